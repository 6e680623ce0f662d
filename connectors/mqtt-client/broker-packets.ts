import type { Packet } from '../mqtt-broker/guard/framing.ts'

/** Bytes of the largest packet that a broker may send us: it is told so in MQTT 5. */
export const packetBytesMax = 4 * 1024 * 1024

/** Bytes that are looked at of a larger message, so that it can be told of and acknowledged. */
const beginningBytes = 128 * 1024

/** A packet as it stands in what has arrived. */
export interface BrokerPacket extends Packet {
  /** Bytes of the whole packet, where only its beginning is here: a PUBLISH that is too large. */
  readonly cutFrom?: number
}

/** A broker has sent what is no MQTT, or more than we take: the connection is of no use any more. */
export class BrokerFault extends Error {
  override readonly name = 'BrokerFault'
}

const nothing = Buffer.alloc(0)

/** Table 2.1. */
const publishType = 3

/** Cuts what a broker sends into packets. A limit holds before anything of a packet is kept. */
export class BrokerPackets {
  #chunks: Buffer[] = []
  #length = 0
  #bytes: Buffer = nothing
  #at = 0
  /** Bytes below which there is no complete packet, so that dribbled ones are not joined in vain. */
  #needed = 2
  /** Bytes of a packet that is too large that are still to come, and are kept by nobody. */
  #leftOut = 0

  /** Bytes that arrived and were not handed out. */
  get unread(): number {
    return this.#bytes.length - this.#at + this.#length
  }

  /** Adds bytes; `next` then hands out the packets that are complete. */
  push(chunk: Buffer): void {
    const leftOut = Math.min(this.#leftOut, chunk.length)
    this.#leftOut -= leftOut
    if (leftOut === chunk.length) return
    this.#chunks.push(leftOut === 0 ? chunk : chunk.subarray(leftOut))
    this.#length += chunk.length - leftOut
  }

  /**
   * The next complete packet, or nothing.
   *
   * @throws BrokerFault
   */
  next(): BrokerPacket | undefined {
    const unread = this.#bytes.length - this.#at
    if (unread + this.#length < this.#needed) return undefined
    if (unread < this.#needed || this.#needed === 2) this.#join()
    const start = this.#at
    const end = this.#endOfPacket(start)
    const isTooLarge = end !== undefined && end - start > packetBytesMax
    const wanted = isTooLarge ? start + beginningBytes : end
    if (wanted === undefined || wanted > this.#bytes.length) {
      this.#needed = wanted === undefined ? this.#bytes.length - start + 1 : wanted - start
      return undefined
    }
    this.#needed = 2
    const packet = { bytes: this.#bytes, start, end: wanted }
    if (!isTooLarge) {
      this.#passOver(wanted)
      return packet
    }
    this.#leftOut = Math.max(0, end - this.#bytes.length)
    this.#passOver(Math.min(end, this.#bytes.length))
    return { ...packet, cutFrom: end - start }
  }

  #passOver(end: number): void {
    this.#at = end
    if (end < this.#bytes.length) return
    // A broker that has sent nothing but complete packets keeps no memory.
    this.#bytes = nothing
    this.#at = 0
  }

  /** Packets that were handed out keep the bytes that they stand in. */
  #join(): void {
    if (this.#chunks.length === 0) return
    const rest = this.#bytes.subarray(this.#at)
    const [only] = this.#chunks
    const isOne = rest.length === 0 && this.#chunks.length === 1 && only !== undefined
    this.#bytes = isOne ? only : Buffer.concat([rest, ...this.#chunks])
    this.#at = 0
    this.#chunks = []
    this.#length = 0
  }

  /** Remaining length, MQTT 3.1.1 section 2.2.3: seven bits a byte, four bytes at most. */
  #endOfPacket(start: number): number | undefined {
    let length = 0
    for (let digits = 0; digits < 4; digits++) {
      const at = start + 1 + digits
      if (at >= this.#bytes.length) return undefined
      const digit = this.#bytes[at] as number
      length += (digit & 0x7f) * 128 ** digits
      if (digit >= 0x80) continue
      const end = at + 1 + length
      const isMessage = (this.#bytes[start] as number) >> 4 === publishType
      if (isMessage || end - start <= packetBytesMax) return end
      throw new BrokerFault(`a packet of ${length} bytes is larger than ${packetBytesMax}`)
    }
    throw new BrokerFault('malformed remaining length')
  }
}
