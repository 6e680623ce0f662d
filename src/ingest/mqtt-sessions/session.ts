import type { Client } from 'aedes'
import {
  queuedBytesPerSessionMax,
  queuedPerSessionMax,
  subscriptionsPerSessionMax,
} from './limits.ts'
import type { SessionIdentity } from './mqtt-sessions.ts'

/** Packet ids of MQTT: 1 to this. */
const packetIdMax = 65_535

/** A message that waits in the queues of `holders` sessions. */
export interface Message {
  readonly number: number
  readonly topic: string
  readonly payload: Uint8Array
  holders: number
}

/** A message in the queue of one session. It has its packet id from the beginning, for good. */
export interface Queued {
  readonly packetId: number
  readonly position: number
  readonly qos: 1 | 2
  readonly retain: boolean
  /** Undefined once the client has it and only the end of the exchange of QoS 2 is missing. */
  message: Message | undefined
  /**
   * Whether it is on disk; only then it is sent: a packet id that a crash forgets could be given
   * again.
   */
  isDurable: boolean
  /** Whether it may have reached the client before: sent again, it carries the DUP flag. */
  wasSent: boolean
  /** Whether it was sent over the connection that the client has now. */
  isInFlight: boolean
}

/** A QoS 2 packet id that its client has not released yet. */
export interface Received {
  readonly receivedAtUs: number
  /** What came with it was handed on. Until then a repetition has to be taken again. */
  isTaken: boolean
  /** What the file says, and so what a restart would find. */
  isTakenOnDisk: boolean
}

export function bytesOf({ topic, payload }: Message): number {
  return topic.length + payload.byteLength
}

export interface NewSession extends SessionIdentity {
  readonly number: number
  readonly createdAtUs: number
  readonly usedAtUs: number
}

/** What MQTT keeps of a client that is to find it again (section 3.1.2.4). Knows no disk. */
export class Session {
  readonly number: number
  readonly userId: string
  readonly clientId: string
  readonly createdAtUs: number
  readonly subscriptions = new Map<string, number>()
  /** Filters that were granted and are not among the subscriptions yet. */
  readonly granted = new Set<string>()
  readonly queue = new Map<number, Queued>()
  readonly received = new Map<number, Received>()
  /** Who is connected with it. */
  client: Client | undefined
  lastUsedAtUs: number
  queuedBytes = 0
  #lastPacketId = 0

  constructor({ number, userId, clientId, createdAtUs, usedAtUs }: NewSession) {
    this.number = number
    this.userId = userId
    this.clientId = clientId
    this.createdAtUs = createdAtUs
    this.lastUsedAtUs = usedAtUs
  }

  hasRoomForFilter(): boolean {
    return this.subscriptions.size + this.granted.size < subscriptionsPerSessionMax
  }

  hasRoomForMessage(message: Message): boolean {
    return (
      this.queue.size < queuedPerSessionMax &&
      this.queuedBytes + bytesOf(message) <= queuedBytesPerSessionMax
    )
  }

  add(queued: Queued): void {
    this.queue.set(queued.packetId, queued)
    this.#lastPacketId = queued.packetId
    if (!queued.message) return
    queued.message.holders++
    this.queuedBytes += bytesOf(queued.message)
  }

  /** The next packet id that is free: there are more of them than the queue has places. */
  nextPacketId(): number {
    let packetId = this.#lastPacketId
    do packetId = (packetId % packetIdMax) + 1
    while (this.queue.has(packetId))
    return packetId
  }

  /** Gives up a message, and tells which one nobody holds any more. */
  release(queued: Queued): Message | undefined {
    const { message } = queued
    queued.message = undefined
    if (!message) return undefined
    this.queuedBytes -= bytesOf(message)
    message.holders--
    return message.holders === 0 ? message : undefined
  }
}
