import type { Socket } from 'node:net'
import { type Address, type LoadConnection, openSocket } from './load-driver.ts'
import type { Measurement } from './load-measurement.ts'
import {
  CONNACK,
  DISCONNECT_PACKET,
  describeReturnCode,
  PacketReader,
  PUBACK,
  type PublishTemplate,
} from './mqtt-packets.ts'
import type { ReadingSeries } from './reading-series.ts'

const PACKET_IDS = 65_536
const MAX_IN_FLIGHT = PACKET_IDS - 1
/**
 * A closed loop refills once this share of its publishes was acknowledged, or at the next tick. A
 * server that acknowledges one by one would otherwise get its publishes back in writes of one,
 * and the system calls would cost this process as much as the server's work.
 */
const REFILL_SHARE = 0.25

/**
 * When a connection publishes. Closed: `inFlight` publishes are always outstanding. Open: publish
 * k is due `offsetMs + k * intervalMs` after the warm-up began, whatever the server does.
 */
export type Pace =
  | { kind: 'closed'; inFlight: number }
  | { kind: 'open'; offsetMs: number; intervalMs: number }

type MqttConnectionOptions = {
  address: Address
  connectPacket: Buffer
  /** Taken in turns; all of one length. */
  publishes: readonly PublishTemplate[]
  readings: ReadingSeries
  pace: Pace
  /** Runs after every read, before its acknowledgements are counted. */
  onRead(): void
  /** Receives how late, in milliseconds, the generator wrote each measured open-loop publish. */
  onSendLag(lagMs: number): void
}

/** One MQTT publisher. Times are `performance.now()` milliseconds. */
export class MqttConnection implements LoadConnection {
  readonly #options: MqttConnectionOptions
  readonly #measurement: Measurement
  readonly #connected = Promise.withResolvers<void>()
  /** Per packet id: when its publish was due; 0 means the id is free. */
  readonly #dueAt = new Float64Array(PACKET_IDS)
  /** Per packet id: which publish of this connection it was, to notice overtaking. */
  readonly #ordinalOf = new Float64Array(PACKET_IDS)
  #socket: Socket | undefined
  #state: 'connecting' | 'open' | 'closed' = 'connecting'
  #lastId = 0
  #inFlight = 0
  #published = 0
  #highestAcknowledged = -1
  #readAtMs = 0

  constructor(options: MqttConnectionOptions, measurement: Measurement) {
    this.#options = options
    this.#measurement = measurement
  }

  connect(): Promise<void> {
    const reader = new PacketReader((type, first, second) => this.#onPacket(type, first, second))
    this.#socket = openSocket(this.#options.address, {
      onOpen: () => this.#socket?.write(this.#options.connectPacket),
      onBytes: (bytes) => this.#onBytes(reader, bytes),
      onClose: (reason) => this.#fail(reason),
    })
    return this.#connected.promise
  }

  isOpen(): boolean {
    return this.#state === 'open'
  }

  isIdle(nowMs: number): boolean {
    return !this.isOpen() || (this.#inFlight === 0 && this.#due(nowMs) === 0)
  }

  pump(nowMs: number): void {
    if (!this.isOpen() || nowMs < this.#measurement.beginMs) return
    const { pace } = this.#options
    const count = Math.min(this.#due(nowMs), MAX_IN_FLIGHT - this.#inFlight)
    if (count === 0) return
    if (pace.kind === 'closed') this.#publish(count, nowMs, () => nowMs)
    else this.#publish(count, nowMs, (ordinal) => this.#dueMs(pace, ordinal))
  }

  countUnanswered(nowMs: number): void {
    for (const dueMs of this.#dueAt) {
      if (dueMs !== 0) this.#measurement.recordUnanswered(dueMs, nowMs)
    }
    const { pace } = this.#options
    if (pace.kind === 'closed') return
    const neverSent = this.#due(nowMs)
    for (let i = 0; i < neverSent; i++) {
      const dueMs = this.#dueMs(pace, this.#published + i)
      this.#measurement.recordUnanswered(dueMs, nowMs)
      this.#measurement.recordError('publish was due but could not be sent')
    }
  }

  close(): void {
    // With bytes still queued, a farewell would wait for a server that may have stalled.
    if (this.#state === 'open' && this.#socket?.writableLength === 0) {
      this.#socket.end(DISCONNECT_PACKET)
      this.#socket.destroySoon()
    } else {
      this.#socket?.destroy()
    }
    this.#state = 'closed'
  }

  #dueMs(pace: Pace & { kind: 'open' }, ordinal: number): number {
    return this.#measurement.beginMs + pace.offsetMs + ordinal * pace.intervalMs
  }

  /** How many publishes should be sent by now and are not. */
  #due(nowMs: number): number {
    const { pace } = this.#options
    const { beginMs, endMs } = this.#measurement
    if (pace.kind === 'closed') return nowMs < endMs ? pace.inFlight - this.#inFlight : 0
    const elapsedMs = Math.min(nowMs, endMs) - beginMs - pace.offsetMs
    if (elapsedMs < 0) return 0
    return Math.max(0, Math.floor(elapsedMs / pace.intervalMs) + 1 - this.#published)
  }

  /** Writes `count` publishes at once: one system call however many acknowledgements came in. */
  #publish(count: number, nowMs: number, dueMsOf: (ordinal: number) => number): void {
    const { publishes } = this.#options
    const { bytes: template, idAt, payloadAt } = publishes[0] as PublishTemplate
    // A fresh buffer, because the kernel may take a part now and the rest later.
    const bytes = Buffer.allocUnsafe(count * template.length).fill(template)
    const readingUs = this.#measurement.readingUs(nowMs)
    for (let at = 0; at < bytes.length; at += template.length) {
      const id = this.#nextFreeId()
      if (publishes.length > 1) {
        bytes.set((publishes[this.#published % publishes.length] as PublishTemplate).bytes, at)
      }
      const dueMs = dueMsOf(this.#published)
      this.#dueAt[id] = dueMs
      this.#ordinalOf[id] = this.#published
      this.#published += 1
      bytes[at + idAt] = id >> 8
      bytes[at + idAt + 1] = id & 255
      this.#options.readings.write(bytes, at + payloadAt, readingUs)
      this.#measurement.recordSent(dueMs, 1)
      if (this.#measurement.isMeasured(dueMs)) this.#options.onSendLag(nowMs - dueMs)
    }
    this.#inFlight += count
    this.#socket?.write(bytes)
  }

  #nextFreeId(): number {
    do this.#lastId = this.#lastId === MAX_IN_FLIGHT ? 1 : this.#lastId + 1
    while (this.#dueAt[this.#lastId] !== 0)
    return this.#lastId
  }

  #onBytes(reader: PacketReader, bytes: Buffer): void {
    this.#readAtMs = performance.now()
    this.#options.onRead()
    try {
      reader.push(bytes)
    } catch (error) {
      this.#fail(error instanceof Error ? error.message : String(error))
      this.#socket?.destroy()
      return
    }
    // An open loop keeps to its ticks: a write per acknowledgement would cost more than it tells.
    const { pace } = this.#options
    if (pace.kind === 'open') return
    if (pace.inFlight - this.#inFlight >= pace.inFlight * REFILL_SHARE) this.pump(this.#readAtMs)
  }

  #onPacket(type: number, firstByte: number, secondByte: number): void {
    if (type === PUBACK) this.#onAcknowledged((firstByte << 8) | secondByte)
    else if (type === CONNACK) this.#onConnectAnswer(secondByte)
  }

  #onConnectAnswer(returnCode: number): void {
    if (returnCode === 0 && this.#state === 'connecting') {
      this.#state = 'open'
      this.#connected.resolve()
    } else if (returnCode !== 0) {
      this.#connected.reject(new Error(`server refused: ${describeReturnCode(returnCode)}`))
    }
  }

  #onAcknowledged(id: number): void {
    const dueMs = this.#dueAt[id] ?? 0
    if (dueMs === 0) {
      this.#measurement.recordError('PUBACK for a packet id that is not in flight')
      return
    }
    this.#dueAt[id] = 0
    this.#inFlight -= 1
    const ordinal = this.#ordinalOf[id] ?? 0
    if (ordinal < this.#highestAcknowledged) this.#measurement.outOfOrder += 1
    else this.#highestAcknowledged = ordinal
    this.#measurement.recordAcknowledged(dueMs, this.#readAtMs, 1)
  }

  #fail(reason: string): void {
    if (this.#state === 'connecting') this.#connected.reject(new Error(reason))
    else if (this.#state === 'open') this.#measurement.recordError(reason)
    this.#state = 'closed'
  }
}
