import type { OptionName, ParsedPacket } from 'coap-packet'

/** Seconds that an answer is fresh for when it does not say so: RFC 7252, section 5.10.5. */
const standardMaxAge = 60

/** Which part of a body this is: RFC 7959, section 2.2. */
export interface Block {
  readonly number: number
  readonly hasMore: boolean
  /** Bytes of every part but the last one. */
  readonly size: number
}

/** An unsigned integer as options have it, without leading zeros: RFC 7252, section 3.2. */
export function bytesOf(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  const first = bytes.findIndex((byte) => byte !== 0)
  return first === -1 ? Buffer.alloc(0) : bytes.subarray(first)
}

export function optionOf(packet: ParsedPacket, name: OptionName): Buffer | undefined {
  return packet.options.find((option) => option.name === name)?.value
}

/** The sequence number of a notification; undefined where nothing is observed. */
export function observeOf(packet: ParsedPacket): number | undefined {
  return integerOf(packet, 'Observe', 3)
}

/** Seconds; undefined where the device does not say. */
export function saidMaxAgeOf(packet: ParsedPacket): number | undefined {
  return integerOf(packet, 'Max-Age', 4)
}

export function maxAgeOf(packet: ParsedPacket): number {
  return saidMaxAgeOf(packet) ?? standardMaxAge
}

/** Undefined where the body has come as a whole. */
export function blockOf(packet: ParsedPacket): Block | undefined {
  const value = integerOf(packet, 'Block2', 3)
  if (value === undefined) return undefined
  return { number: value >>> 4, hasMore: (value & 8) !== 0, size: 2 ** ((value & 7) + 4) }
}

/** Asks for a part, and for parts of this size. */
export function bytesOfBlock({ number, size }: Pick<Block, 'number' | 'size'>): Buffer {
  return bytesOf(number * 16 + Math.log2(size) - 4)
}

/** One that is too long is as one that is not there: RFC 7252, section 5.4.3. */
function integerOf(packet: ParsedPacket, name: OptionName, lengthMax: number): number | undefined {
  const value = optionOf(packet, name)
  if (value === undefined || value.length > lengthMax) return undefined
  return value.length === 0 ? 0 : value.readUIntBE(0, value.length)
}
