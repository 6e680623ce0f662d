import type { Settled } from '../../../src/contracts/connector.ts'
import { violation } from './closing.ts'
import { type FixedHeaders, firstHeaders, headerProblem, laterHeaders } from './fixed-header.ts'
import type { TopicName } from './text.ts'

/** A complete packet among the bytes that arrived. Most are looked at in place, and not copied. */
export interface Packet {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

const nothing = Buffer.alloc(0)

/**
 * Cuts a stream of bytes into control packets. First byte and length of each are checked before
 * anything of it is kept.
 */
export class PacketFramer {
  #headers: FixedHeaders = firstHeaders
  /** What arrived and was not handed out: [at, end) of these bytes. */
  #bytes: Buffer = nothing
  #at = 0
  #end = 0
  /** Whether the bytes were put together here, so that more can be added behind their end. */
  #isOwn = false
  /** Bytes below which there is no complete packet, so that dribbled ones are not joined in vain. */
  #needed = 2

  /** To be called when the client is known: now come other packets than CONNECT. */
  expectLaterPackets(): void {
    this.#headers = laterHeaders
  }

  /** Bytes that arrived and were not handed out. */
  get unread(): number {
    return this.#end - this.#at
  }

  /** Adds bytes; `next` then hands out the packets that are complete. */
  push(chunk: Buffer): void {
    if (this.unread === 0) {
      this.#bytes = chunk
      this.#at = 0
      this.#end = chunk.length
      this.#isOwn = false
      return
    }
    if (!this.#isOwn || this.#end + chunk.length > this.#bytes.length) this.#grow(chunk.length)
    chunk.copy(this.#bytes, this.#end)
    this.#end += chunk.length
  }

  /**
   * The next complete packet, or nothing.
   *
   * @throws ClosingError for a packet that may not come, or not be so long
   */
  next(): Packet | undefined {
    if (this.unread < this.#needed) return undefined
    const bytes = this.#bytes
    const start = this.#at
    const end = this.#endOfPacket()
    this.#needed = end === undefined ? this.unread + 1 : end - start
    if (end === undefined || end > this.#end) return undefined
    this.#needed = 2
    this.#at = end
    if (end === this.#end) this.#clear()
    return { bytes, start, end }
  }

  /** Who has sent nothing but complete packets keeps no memory. */
  #clear(): void {
    this.#bytes = nothing
    this.#at = 0
    this.#end = 0
  }

  /**
   * Makes room behind the end. A packet that is dribbled byte by byte is copied a few times only,
   * and takes twice the memory of what has arrived at most.
   */
  #grow(more: number): void {
    const length = this.unread + more
    const capacity = Math.max(length, Math.min(this.#needed, 2 * length))
    const grown = Buffer.allocUnsafeSlow(capacity)
    this.#bytes.copy(grown, 0, this.#at, this.#end)
    this.#bytes = grown
    this.#end = this.unread
    this.#at = 0
    this.#isOwn = true
  }

  /**
   * Where the packet ends, or nothing while its length is not complete. Remaining length, section
   * 2.2.3: seven bits a byte, four bytes at most.
   */
  #endOfPacket(): number | undefined {
    const first = this.#bytes[this.#at] as number
    const least = this.#headers.least[first] as number
    const most = this.#headers.most[first] as number
    if (most < 0) throw headerProblem(this.#headers, first, 0)
    let length = 0
    for (let digits = 0; digits < 4; digits++) {
      const at = this.#at + 1 + digits
      if (at >= this.#end) return undefined
      const digit = this.#bytes[at] as number
      length += (digit & 0x7f) * 128 ** digits
      if (digit >= 0x80) continue
      if (length < least || length > most) throw headerProblem(this.#headers, first, length)
      return at + 1 + length
    }
    throw violation('a remaining length of more than four bytes')
  }
}

/** Where the variable header of a complete packet begins. */
export function variableHeaderAt({ bytes, start }: Packet): number {
  let at = start + 1
  while ((bytes[at] as number) >= 0x80) at++
  return at + 1
}

/** A PUBLISH of QoS 0 or 1, section 3.3. */
export interface TakenPublish {
  readonly topic: TopicName
  /** A view of the bytes that arrived. */
  readonly payload: Buffer
  readonly qos: number
  readonly isDuplicate: boolean
  readonly isRetained: boolean
  /** 0 for QoS 0. */
  readonly packetId: number
  /** When it came first, once that is certain. */
  readonly receivedAtUs?: number
}

/** The topic whose name stands at [start, end) of the bytes. */
export type ReadTopic = (bytes: Buffer, start: number, end: number) => TopicName

/**
 * Takes a PUBLISH apart; nothing for QoS 2, which is a conversation. Its payload is not a text, so
 * only the topic has to be checked, by whoever reads it.
 *
 * @throws ClosingError for a packet id of 0 ([MQTT-2.3.1-1]) or a topic beyond the packet
 */
export function takePublish(packet: Packet, readTopic: ReadTopic): TakenPublish | undefined {
  const { bytes, start, end } = packet
  const flags = bytes[start] as number
  const qos = (flags >> 1) & 3
  if (qos === 2) return undefined
  const at = variableHeaderAt(packet)
  const topicEnd = at + 2 + ((bytes[at] ?? 0) << 8) + (bytes[at + 1] ?? 0)
  const payloadStart = qos === 0 ? topicEnd : topicEnd + 2
  if (payloadStart > end) throw violation('a PUBLISH that is cut off')
  const packetId = qos === 0 ? 0 : bytes.readUInt16BE(topicEnd)
  if (qos === 1 && packetId === 0) throw violation('a packet id of 0 [MQTT-2.3.1-1]')
  return {
    topic: readTopic(bytes, at + 2, topicEnd),
    payload: bytes.subarray(payloadStart, end),
    qos,
    isDuplicate: (flags & 8) !== 0,
    isRetained: (flags & 1) !== 0,
    packetId,
  }
}

/**
 * Hands a reading on; false when its topic is none for readings, so that the broker takes it. Without
 * `settled` it only tells which of both.
 */
export type TakePublish = (publish: TakenPublish, settled: Settled | undefined) => boolean

/** Takes a SUBSCRIBE or an UNSUBSCRIBE; resolves with what is to be answered, if the broker does not. */
export type TakeFilters = (packet: Packet) => Promise<Buffer | undefined>
