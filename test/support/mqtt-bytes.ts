/**
 * What packets of MQTT 3.1.1 are made of, right or wrong: a client library refuses to send what a
 * server has to refuse. Names and numbers are those of the specification.
 */

/** Types of control packets, table 2.1. */
export const packetTypes = {
  connect: 1,
  connack: 2,
  publish: 3,
  puback: 4,
  pubrec: 5,
  pubrel: 6,
  pubcomp: 7,
  subscribe: 8,
  suback: 9,
  unsubscribe: 10,
  unsuback: 11,
  pingreq: 12,
  pingresp: 13,
  disconnect: 14,
} as const

export type PacketType = keyof typeof packetTypes

/** A packet of any type, with any flags and any content. */
export function packet(type: PacketType | number, flags: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  const number = typeof type === 'number' ? type : packetTypes[type]
  return Buffer.concat([Buffer.from([(number << 4) | flags]), remainingLength(body.length), body])
}

/** Section 2.2.3: seven bits a byte, the lowest first. */
function remainingLength(length: number): Buffer {
  const digits: number[] = []
  let rest = length
  do {
    digits.push((rest % 128) | (rest >= 128 ? 128 : 0))
    rest = Math.floor(rest / 128)
  } while (rest > 0)
  return Buffer.from(digits)
}

/** A text, or any bytes, behind its length in two bytes. */
export function field(content: string | Buffer): Buffer {
  const bytes = Buffer.from(content as string)
  return Buffer.concat([u16(bytes.length), bytes])
}

export function u16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 255])
}
