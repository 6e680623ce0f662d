import type { Duplex } from 'node:stream'
import type { Client } from 'aedes'
import type { Queued, Session } from './session.ts'

/** Messages that a client may have without having acknowledged them. */
const inFlightMax = 100

export interface DeliveryNeeds {
  readonly session: Session
  readonly client: Client
  readonly nameFor: (client: Client, topic: string) => string | undefined
}

/**
 * Sends what waits in a session to the client that is connected with it.
 *
 * The broker's own way sends new messages past those that wait, twice if they come at the wrong
 * moment, and with packet ids that may be taken. Here every message with QoS 1 or 2 goes through
 * the queue: in its order, as many as the client acknowledges, and with a packet id that stays.
 */
export class Delivery {
  readonly #needs: DeliveryNeeds
  /** Everything that is to be sent over this connection, in order. */
  #waiting: Queued[]
  #next = 0
  #inFlight = 0
  #isDraining = false

  constructor(needs: DeliveryNeeds) {
    this.#needs = needs
    const { session } = needs
    // [MQTT-4.4.0-1]: all that is not acknowledged is sent again, with its packet id.
    for (const queued of session.queue.values()) queued.isInFlight = false
    this.#waiting = [...session.queue.values()]
  }

  get client(): Client {
    return this.#needs.client
  }

  add(queued: Queued): void {
    this.#waiting.push(queued)
  }

  /** One place is free again. */
  acknowledged(): void {
    this.#inFlight--
    this.proceed()
  }

  /** Sends as much as may be sent now. */
  proceed(): void {
    const { session, client } = this.#needs
    while (this.#inFlight < inFlightMax && !client.closed && !this.#isDraining) {
      const queued = this.#waiting[this.#next]
      if (!queued?.isDurable) break
      this.#next++
      // A message may be gone: with its session, or because it could not be kept.
      const isThere = session.queue.get(queued.packetId) === queued
      if (isThere && !this.#send(queued)) this.#waitForDrain()
    }
    if (this.#next > inFlightMax && this.#next * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#next)
      this.#next = 0
    }
  }

  /** False when the client has to read first what it was sent before. */
  #send(queued: Queued): boolean {
    const { client, nameFor } = this.#needs
    const { message } = queued
    const topic = message && nameFor(client, message.topic)
    if (message && topic === undefined) return true
    this.#inFlight++
    queued.isInFlight = true
    const conn = client.conn as Duplex
    const first =
      message && topic !== undefined
        ? publishHeader(queued, topic, message.payload.byteLength)
        : pubrel(queued.packetId)
    queued.wasSent = true
    const hasRoom = conn.write(first)
    return message?.payload.byteLength ? conn.write(message.payload) : hasRoom
  }

  #waitForDrain(): void {
    this.#isDraining = true
    this.#needs.client.conn.once('drain', () => {
      this.#isDraining = false
      this.proceed()
    })
  }
}

/** A PUBLISH up to its payload, section 3.3. */
function publishHeader(
  { packetId, qos, retain, wasSent }: Queued,
  topic: string,
  payloadBytes: number,
): Buffer {
  const topicBytes = Buffer.byteLength(topic)
  const length = remainingLength(2 + topicBytes + 2 + payloadBytes)
  const header = Buffer.allocUnsafe(1 + length.length + 2 + topicBytes + 2)
  header[0] = 0x30 | (wasSent ? 8 : 0) | (qos << 1) | (retain ? 1 : 0)
  header.set(length, 1)
  const topicAt = 1 + length.length
  header.writeUInt16BE(topicBytes, topicAt)
  header.write(topic, topicAt + 2)
  header.writeUInt16BE(packetId, topicAt + 2 + topicBytes)
  return header
}

/** Section 3.6. */
function pubrel(packetId: number): Buffer {
  return Buffer.from([0x62, 2, packetId >> 8, packetId & 0xff])
}

/** Section 2.2.3: seven bits a byte, the lowest first. */
function remainingLength(length: number): number[] {
  const digits: number[] = []
  let rest = length
  do {
    const digit = rest % 128
    rest = Math.floor(rest / 128)
    digits.push(rest > 0 ? digit | 0x80 : digit)
  } while (rest > 0)
  return digits
}
