import type { CelFunc } from '@bufbuild/cel'

type Cel = typeof import('@bufbuild/cel')

/** An integer of the language has 64 bits. */
const integerBytesMax = 8n

const integerMax = 2n ** 63n - 1n

interface Kind {
  readonly isSigned: boolean
  readonly isLittle: boolean
}

const integers: Readonly<Record<string, Kind>> = {
  uintBE: { isSigned: false, isLittle: false },
  uintLE: { isSigned: false, isLittle: true },
  intBE: { isSigned: true, isLittle: false },
  intLE: { isSigned: true, isLittle: true },
}

const floats: Readonly<Record<string, boolean>> = { floatBE: false, floatLE: true }

/** Functions that make bytes of a text. */
export const decodingNames: readonly string[] = ['hex']

/** Functions that are called on bytes. */
export const byteNames: readonly string[] = [...Object.keys(integers), ...Object.keys(floats)]

/** Functions of bits: each takes integers, and results in one (cel-go, ext/math). */
const ofBits: Readonly<Record<string, (left: bigint, right: bigint) => bigint>> = {
  bitAnd: (left, right) => left & right,
  bitOr: (left, right) => left | right,
  bitXor: (left, right) => left ^ right,
  bitShiftLeft: (value, by) => shifted('bitShiftLeft', by, () => value << by),
  // What comes in from the left are zeros, whatever the sign was.
  bitShiftRight: (value, by) => shifted('bitShiftRight', by, () => BigInt.asUintN(64, value) >> by),
}

export const bitNames: readonly string[] = [...Object.keys(ofBits), 'bitNot']

/** What small binary payloads are taken apart with: bytes of texts, numbers in bytes, and bits of numbers. */
export function bytes({ celFunc, celMethod, CelScalar }: Cel): CelFunc[] {
  const { BYTES, DOUBLE, INT, STRING } = CelScalar
  return [
    celFunc('hex', [STRING], BYTES, bytesOfHex),
    celFunc('base64.decode', [STRING], BYTES, bytesOfBase64),
    ...Object.entries(integers).map(([name, kind]) =>
      celMethod(name, BYTES, [INT, INT], INT, function (offset, length) {
        return integerIn(partOf(this, [offset, length], name), name, kind)
      }),
    ),
    ...Object.entries(floats).map(([name, isLittle]) =>
      celMethod(name, BYTES, [INT, INT], DOUBLE, function (offset, length) {
        return floatIn(partOf(this, [offset, length], name), name, isLittle)
      }),
    ),
    ...Object.entries(ofBits).map(([name, apply]) =>
      celFunc(`math.${name}`, [INT, INT], INT, (left, right) =>
        BigInt.asIntN(64, apply(left, right)),
      ),
    ),
    celFunc('math.bitNot', [INT], INT, (value) => BigInt.asIntN(64, ~value)),
  ]
}

function bytesOfHex(text: string): Uint8Array {
  if (text.length % 2 === 0 && /^[\da-f]*$/i.test(text)) return ownBytes(Buffer.from(text, 'hex'))
  throw new Error('hex: the text is no pairs of hexadecimal digits')
}

/** With or without `=` at its end, and in the letters for addresses as well (RFC 4648, sections 4 and 5). */
function bytesOfBase64(text: string): Uint8Array {
  const digits = text.replace(/={1,2}$/, '')
  if (digits.length % 4 !== 1 && /^[\w+/-]*$/.test(digits)) {
    return ownBytes(Buffer.from(digits, 'base64'))
  }
  throw new Error('base64.decode: the text is not base64')
}

/** The language takes plain arrays of bytes. */
function ownBytes(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer)
}

function partOf(
  all: Uint8Array,
  [offset, length]: readonly [bigint, bigint],
  name: string,
): Uint8Array {
  if (length < 1n || length > integerBytesMax) {
    throw new Error(`${name}: a number has 1 to ${integerBytesMax} bytes, and not ${length}`)
  }
  if (offset < 0n || offset + length > BigInt(all.length)) {
    throw new Error(
      `${name}(${offset}, ${length}) is beyond the ${all.length} bytes that there are`,
    )
  }
  return all.subarray(Number(offset), Number(offset + length))
}

function integerIn(part: Uint8Array, name: string, { isSigned, isLittle }: Kind): bigint {
  let value = 0n
  for (const byte of isLittle ? part.toReversed() : part) value = value * 256n + BigInt(byte)
  if (isSigned) return BigInt.asIntN(8 * part.length, value)
  if (value > integerMax)
    throw new Error(`${name}: ${value} is not an integer of 64 bits with a sign`)
  return value
}

function floatIn(part: Uint8Array, name: string, isLittle: boolean): number {
  const view = new DataView(part.buffer, part.byteOffset, part.length)
  if (part.length === 4) return view.getFloat32(0, isLittle)
  if (part.length === 8) return view.getFloat64(0, isLittle)
  throw new Error(`${name}: a floating-point number has 4 or 8 bytes, and not ${part.length}`)
}

function shifted(name: string, by: bigint, apply: () => bigint): bigint {
  if (by < 0n) throw new Error(`${name}: cannot shift by ${by} bits`)
  return by >= 64n ? 0n : apply()
}
