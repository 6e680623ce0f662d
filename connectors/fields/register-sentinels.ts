/** Numbers in registers, with the bits of each. */
const bitsOf = {
  int16: 16,
  uint16: 16,
  int32: 32,
  uint32: 32,
  float32: 32,
  int64: 64,
  uint64: 64,
  float64: 64,
} as const

export type NumberType = keyof typeof bitsOf

/** A value that stands for none: a number, or what is in the registers in hexadecimal digits. */
export type Sentinel = number | string

/** Values of one register. */
export const sentinelsMax = 20

export const hexPattern = /^0x[\da-f]{1,16}$/i

export function isNumberType(type: string): type is NumberType {
  return Object.hasOwn(bitsOf, type)
}

/**
 * What is in the registers where a value of this type stands for none; undefined where none can be that. A number with a
 * sign may be written without: 65535 is -1 as an `int16`.
 */
export function registersOfSentinel(sentinel: Sentinel, type: NumberType): bigint | undefined {
  const bits = bitsOf[type]
  if (typeof sentinel === 'string') return withinBits(BigInt(sentinel), bits)
  if (type === 'float32' || type === 'float64') return bitsOfReal(sentinel, bits)
  if (!Number.isInteger(sentinel)) return undefined
  const integer = BigInt(sentinel)
  const least = type.startsWith('u') ? 0n : -(2n ** BigInt(bits - 1))
  return integer < least || integer >= 2n ** BigInt(bits)
    ? undefined
    : BigInt.asUintN(bits, integer)
}

function withinBits(value: bigint, bits: number): bigint | undefined {
  return value < 2n ** BigInt(bits) ? value : undefined
}

function bitsOfReal(value: number, bits: number): bigint | undefined {
  const view = new DataView(new ArrayBuffer(8))
  if (bits === 64) view.setFloat64(0, value)
  else if (Number.isFinite(Math.fround(value))) view.setFloat32(4, value)
  else return undefined
  return view.getBigUint64(0)
}

/** The bits of a number, whose highest byte is the first. */
export function registersAsInteger(bytes: Buffer): bigint {
  let value = 0n
  for (let at = 0; at < bytes.length; at += 2)
    value = value * 65_536n + BigInt(bytes.readUInt16BE(at))
  return value
}
