import type { Packet } from '../mqtt-broker/guard/framing.ts'

/** Bytes of the largest packet that a broker may send us: it is told so in MQTT 5. */
export const packetBytesMax = 4 * 1024 * 1024

/** A broker has sent what is no MQTT, or more than we take: the connection is of no use any more. */
export class BrokerFault extends Error {
  override readonly name = 'BrokerFault'
}

const nothing = Buffer.alloc(0)

/** Cuts what a broker sends into packets. A limit holds before anything of a packet is kept. */
export class BrokerPackets {
  #chunks: Buffer[] = []
  #length = 0
  #bytes: Buffer = nothing
  #at = 0
  /** Bytes below which there is no complete packet, so that dribbled ones are not joined in vain. */
  #needed = 2

  /** Bytes that arrived and were not handed out. */
  get unread(): number {
    return this.#bytes.length - this.#at + this.#length
  }

  /** Adds bytes; `next` then hands out the packets that are complete. */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  /**
   * The next complete packet, or nothing.
   *
   * @throws BrokerFault
   */
  next(): Packet | undefined {
    const unread = this.#bytes.length - this.#at
    if (unread + this.#length < this.#needed) return undefined
    if (unread < this.#needed || this.#needed === 2) this.#join()
    const start = this.#at
    const end = this.#endOfPacket(start)
    if (end === undefined || end > this.#bytes.length) {
      this.#needed = end === undefined ? this.#bytes.length - start + 1 : end - start
      return undefined
    }
    this.#needed = 2
    this.#at = end
    const { length } = this.#bytes
    const packet = { bytes: this.#bytes, start, end }
    // A broker that has sent nothing but complete packets keeps no memory.
    if (end === length) {
      this.#bytes = nothing
      this.#at = 0
    }
    return packet
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
      if (end - start <= packetBytesMax) return end
      throw new BrokerFault(`a message of ${length} bytes is larger than ${packetBytesMax}`)
    }
    throw new BrokerFault('malformed remaining length')
  }
}
