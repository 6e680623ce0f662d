import { Duplex } from 'node:stream'
import type { Holder, SharedBytes } from '../mqtt-broker/guard/shared-bytes.ts'
import {
  type Arrival,
  acknowledgement,
  acknowledgements,
  type MqttVersion,
  takeArrival,
  takeReleased,
  takeSessionPresent,
} from './arrivals.ts'
import { BrokerFault, type BrokerPacket, BrokerPackets } from './broker-packets.ts'

/** Messages that may wait for the disk; a broker that knows MQTT 5 is told so. */
export const unsettledMax = 1_000

/** Memory that they may keep alive meanwhile: one packet of the largest size, or many full chunks. */
const unsettledBytesMax = 4 * 1024 * 1024

/** Time for a broker to release what it sent with QoS 2, when the connection is about to end. */
const releaseMs = 1_000

/** Types of control packets, table 2.1. */
const packetType = { connack: 2, publish: 3, pubrel: 6 } as const

const pingRequest = Buffer.of(0xc0, 0)
const pingResponse = Buffer.of(0xd0, 0)

export interface Interception {
  readonly version: MqttVersion
  /** Packet ids of QoS 2 messages that are durable and not released yet. Outlasts a connection. */
  readonly kept: Set<number>
  /** Resolves when the messages are durable, and in the order of the calls. */
  readonly take: (arrivals: readonly Arrival[]) => Promise<void>
  readonly onSession: (isPresent: boolean) => void
  /** Memory that the connections to all brokers take together. */
  readonly shared: SharedBytes
}

/**
 * Stands between the MQTT library and a broker, as the stream that the library reads and writes.
 *
 * The library handles one message after the other, so each would wait for a write to disk of its
 * own; and in MQTT 3.1.1 it answers QoS 2 before anybody was asked. So messages are taken out here,
 * and acknowledged here when they are durable. All the rest is the library's.
 */
export class MqttIntercept extends Duplex implements Holder {
  readonly #transport: Duplex
  readonly #packets = new BrokerPackets()
  readonly #interception: Interception
  #isLibraryFull = false
  #isTaking = true
  #unsettled = 0
  #unsettledBytes = 0
  #arrivals: Arrival[] = []
  /** Packet ids of QoS 2 messages on their way to the disk, that were not released meanwhile. */
  readonly #exchanges = new Set<number>()
  #onIdle: (() => void) | undefined
  #onReleased: (() => void) | undefined

  constructor(transport: Duplex, interception: Interception) {
    super({ allowHalfOpen: false })
    this.#transport = transport
    this.#interception = interception
    transport.on('data', (chunk: Buffer) => {
      this.#packets.push(chunk)
      this.#proceed()
    })
    transport.on('end', () => this.push(null))
    transport.on('error', (error) => this.destroy(error))
    transport.on('close', () => this.destroy())
  }

  /** Messages that are on their way to the disk. */
  get unsettled(): number {
    return this.#unsettled
  }

  /** Takes no more messages; resolves when those that were taken are acknowledged, or have failed. */
  async finish(): Promise<void> {
    this.#isTaking = false
    if (this.#unsettled > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve
      })
    }
    if (this.#interception.kept.size > 0 && !this.destroyed) await this.#released()
  }

  /**
   * A broker that finds the connection closed while it releases one message does not read that the
   * others are kept: it would send them again to whoever comes next.
   */
  async #released(): Promise<void> {
    await new Promise<void>((resolve) => {
      const patience = setTimeout(resolve, releaseMs)
      this.#onReleased = () => {
        clearTimeout(patience)
        resolve()
      }
    })
  }

  /** A broker that lets a packet dribble in, or floods us, goes before others do. */
  giveBack(): void {
    this.destroy(new Error('what brokers have sent takes too much memory'))
  }

  override _read(): void {
    this.#isLibraryFull = false
    // The next turn goes on: the library calls this while it is still handling the packet before.
    setImmediate(() => this.#proceed())
  }

  override _write(
    chunk: Buffer,
    _: BufferEncoding,
    callback: (error?: Error | null) => void,
  ): void {
    this.#send(chunk, callback)
  }

  /** The library writes a packet in pieces, which nothing of ours must come between. */
  override _writev(
    chunks: { readonly chunk: Buffer }[],
    callback: (error?: Error | null) => void,
  ): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)), callback)
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#transport.end(callback)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#transport.destroy()
    this.#interception.shared.hold(this, 0)
    this.#onReleased?.()
    callback(error)
  }

  #send(bytes: Buffer, callback: (error?: Error | null) => void): void {
    this.#transport.write(bytes, callback)
    // While we do not read, its answer does not come through: that the broker does not live is no
    // conclusion from it.
    if (this.#transport.isPaused() && bytes.equals(pingRequest)) this.push(pingResponse)
  }

  #proceed(): void {
    try {
      while (this.#mayProceed()) {
        const packet = this.#packets.next()
        if (packet === undefined) break
        this.#route(packet)
      }
    } catch (error) {
      if (!(error instanceof BrokerFault)) throw error
      this.destroy(error)
      return
    }
    this.#handOver()
    this.#count()
    if (this.#mayProceed()) this.#transport.resume()
    else this.#transport.pause()
  }

  #count(): void {
    const bytes = this.destroyed ? 0 : this.#packets.unread + this.#unsettledBytes
    this.#interception.shared.hold(this, bytes)
  }

  #mayProceed(): boolean {
    const isFull = this.#unsettled >= unsettledMax || this.#unsettledBytes >= unsettledBytesMax
    return !isFull && !this.#isLibraryFull && !this.destroyed
  }

  #route(packet: BrokerPacket): void {
    const { bytes, start, end } = packet
    switch ((bytes[start] as number) >> 4) {
      case packetType.publish:
        this.#arrive(takeArrival(packet, this.#interception.version))
        return
      case packetType.pubrel: {
        const packetId = takeReleased(packet)
        this.#interception.kept.delete(packetId)
        this.#exchanges.delete(packetId)
        this.#transport.write(acknowledgement('pubcomp', packetId))
        if (this.#interception.kept.size === 0) this.#onReleased?.()
        return
      }
      case packetType.connack:
        this.#interception.onSession(takeSessionPresent(packet))
    }
    this.#isLibraryFull = !this.push(bytes.subarray(start, end))
  }

  #arrive(arrival: Arrival): void {
    if (!this.#isTaking) return
    // A message that is sent again before it was released is kept already ([MQTT-4.3.3-2]).
    if (arrival.qos === 2 && this.#interception.kept.has(arrival.packetId)) {
      this.#transport.write(acknowledgement('pubrec', arrival.packetId))
      return
    }
    // It is on its way to the disk, and will be acknowledged once.
    if (arrival.qos === 2 && this.#exchanges.has(arrival.packetId)) return
    if (arrival.qos === 2) this.#exchanges.add(arrival.packetId)
    this.#arrivals.push(arrival)
    this.#unsettled++
    this.#unsettledBytes += arrival.payload.length
  }

  /** What arrived together goes on together, and is acknowledged by one write. */
  #handOver(): void {
    const arrivals = this.#arrivals
    if (arrivals.length === 0) return
    this.#arrivals = []
    this.#interception
      .take(arrivals)
      .then(
        () => this.#acknowledge(arrivals),
        (error: unknown) => this.destroy(error as Error),
      )
      .finally(() => this.#finish(arrivals))
  }

  #acknowledge(arrivals: readonly Arrival[]): void {
    for (const { qos, packetId } of arrivals) {
      // A broker that has released it before it was told to has no more use for its packet id.
      if (qos === 2 && this.#exchanges.delete(packetId)) this.#interception.kept.add(packetId)
    }
    const bytes = acknowledgements(arrivals)
    if (bytes.length > 0 && !this.destroyed) this.#transport.write(bytes)
  }

  #finish(arrivals: readonly Arrival[]): void {
    this.#unsettled -= arrivals.length
    for (const { payload } of arrivals) this.#unsettledBytes -= payload.length
    if (this.#unsettled === 0) this.#onIdle?.()
    this.#proceed()
  }
}
