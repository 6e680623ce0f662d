/** Types of control packets, MQTT 3.1.1 table 2.1. */
export const packetType = { connect: 1, publish: 3 } as const

/** Largest packet before the client is known: a CONNECT with its will. */
export const earlyPacketBytesMax = 64 * 1024

/** Largest packet: a PUBLISH with a payload of the size that HTTP takes, too. */
export const packetBytesMax = 4 * 1024 * 1024 + 1024

/** Thrown for bytes that cannot be MQTT, or that are more than we take: the connection is closed. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

/** A complete packet among the bytes that arrived. Most are looked at in place, and not copied. */
export interface Packet {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

/** Cuts a stream of bytes into control packets, with a limit that holds before anything is kept. */
export class PacketFramer {
  #chunks: Buffer[] = []
  #length = 0
  /** Where the next packet begins. Cutting off what was read would cost an object per packet. */
  #at = 0
  /** Bytes below which there is no complete packet, so that dribbled ones are not joined in vain. */
  #needed = 2
  #packetBytesMax = earlyPacketBytesMax

  /** To be called when the client is known: from now on its packets may be large. */
  allowLargePackets(): void {
    this.#packetBytesMax = packetBytesMax
  }

  /** Adds bytes; `next` then hands out the packets that are complete. */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  /**
   * The next complete packet, or nothing.
   *
   * @throws ProtocolError
   */
  next(): Packet | undefined {
    const unread = this.#length - this.#at
    if (unread < this.#needed) return undefined
    const bytes = this.#joined()
    const start = this.#at
    const end = endOfPacket(bytes, start, this.#packetBytesMax)
    this.#needed = end === undefined ? unread + 1 : end - start
    if (end === undefined || end > bytes.length) return undefined
    this.#needed = 2
    this.#at = end
    if (end === bytes.length) this.#clear()
    return { bytes, start, end }
  }

  #clear(): void {
    this.#chunks = []
    this.#length = 0
    this.#at = 0
  }

  #joined(): Buffer {
    const [only] = this.#chunks
    if (this.#chunks.length === 1 && only) return only
    const joined = Buffer.concat(this.#chunks).subarray(this.#at)
    this.#chunks = [joined]
    this.#length = joined.length
    this.#at = 0
    return joined
  }
}

/**
 * Where the packet at an offset ends, or nothing while its length is not complete. Remaining
 * length, section 2.2.3: seven bits a byte, four bytes at most.
 */
function endOfPacket(bytes: Buffer, start: number, bytesMax: number): number | undefined {
  let length = 0
  for (let digits = 0; digits < 4; digits++) {
    const at = start + 1 + digits
    if (at >= bytes.length) return undefined
    const digit = bytes[at] as number
    length += (digit & 0x7f) * 128 ** digits
    if (digit >= 0x80) continue
    if (length <= bytesMax) return at + 1 + length
    throw new ProtocolError(`a packet of ${length} bytes is larger than ${bytesMax}`)
  }
  throw new ProtocolError('malformed remaining length')
}

/** Where the variable header of a complete packet begins. */
function variableHeaderAt({ bytes, start }: Packet): number {
  let at = start + 1
  while ((bytes[at] as number) >= 0x80) at++
  return at + 1
}

/** A PUBLISH of QoS 0 or 1, section 3.3. */
export interface TakenPublish {
  readonly topic: string
  /** A view of the bytes that arrived. */
  readonly payload: Buffer
  readonly qos: number
  readonly isDuplicate: boolean
  /** 0 for QoS 0. */
  readonly packetId: number
}

/** The text of a topic that stands at [start, end) of the bytes. */
export type ReadTopic = (bytes: Buffer, start: number, end: number) => string

/**
 * Takes a PUBLISH apart; nothing for QoS 2, which is a conversation.
 *
 * @throws ProtocolError for QoS 3, a packet id of 0 ([MQTT-2.3.1-1]) or a topic beyond the packet
 */
export function takePublish(packet: Packet, readTopic: ReadTopic): TakenPublish | undefined {
  const { bytes, start, end } = packet
  const flags = bytes[start] as number
  const qos = (flags >> 1) & 3
  if (qos === 3) throw new ProtocolError('a PUBLISH with QoS 3')
  if (qos === 2) return undefined
  const at = variableHeaderAt(packet)
  const topicEnd = at + 2 + ((bytes[at] ?? 0) << 8) + (bytes[at + 1] ?? 0)
  const payloadStart = qos === 0 ? topicEnd : topicEnd + 2
  if (payloadStart > end) throw new ProtocolError('a PUBLISH that is cut off')
  const packetId = qos === 0 ? 0 : bytes.readUInt16BE(topicEnd)
  if (qos === 1 && packetId === 0) throw new ProtocolError('a PUBLISH with packet id 0')
  return {
    topic: readTopic(bytes, at + 2, topicEnd),
    payload: bytes.subarray(payloadStart, end),
    qos,
    isDuplicate: (flags & 8) !== 0,
    packetId,
  }
}

/**
 * Takes the keep-alive out of a CONNECT packet and leaves 0, "no time-out", in its place.
 *
 * @returns seconds; 0 when the client wants none, or when the packet is too short to tell
 */
export function takeKeepAlive(packet: Packet): number {
  const { bytes, end } = packet
  const start = variableHeaderAt(packet)
  const nameLength = ((bytes[start] ?? 0) << 8) + (bytes[start + 1] ?? 0)
  // Section 3.1.2: protocol name, protocol level, connect flags, keep-alive.
  const at = start + 2 + nameLength + 2
  if (at + 2 > end) return 0
  const seconds = bytes.readUInt16BE(at)
  bytes.writeUInt16BE(0, at)
  return seconds
}
