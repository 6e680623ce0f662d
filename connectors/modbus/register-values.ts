import { shortest } from '../../src/core/single-precision.ts'
import type { RegisterItem, ValueFormat } from './options.ts'
import type { PlannedRead } from './read-plan.ts'

/** What `toFixed` takes at most. */
const digitsMax = 100

const utf8 = new TextDecoder()

/**
 * The value of a field, as JSON; undefined where a floating-point number is none.
 *
 * @param bytes those of the whole answer to a request
 */
export function valueIn(
  bytes: Buffer,
  read: PlannedRead,
  { kind, address, count, format }: RegisterItem,
): string | undefined {
  const at = address - read.address
  if (kind === 'coil' || kind === 'discrete') {
    // The first coil is the least bit of the first byte (Modbus Application Protocol V1.1b3, section 6.1).
    return String((((bytes[at >> 3] ?? 0) >> (at & 7)) & 1) === 1)
  }
  return registerValue(bytes.subarray(at * 2, (at + count) * 2), format)
}

function registerValue(registers: Buffer, format: ValueFormat): string | undefined {
  const bytes = inBigEndian(registers, format)
  switch (format.type) {
    case 'bool':
      return flag(bytes.readUInt16BE(), format.bit)
    case 'string':
      return text(bytes.subarray(0, format.length))
    case 'int16':
      return integer(bytes.readInt16BE(), format)
    case 'uint16':
      return integer(bytes.readUInt16BE(), format)
    case 'int32':
      return integer(bytes.readInt32BE(), format)
    case 'uint32':
      return integer(bytes.readUInt32BE(), format)
    case 'int64':
      return integer(bytes.readBigInt64BE(), format)
    case 'uint64':
      return integer(bytes.readBigUInt64BE(), format)
    case 'float32':
      return real(Number(shortest(bytes.readFloatBE())), format)
    case 'float64':
      return real(bytes.readDoubleBE(), format)
    default:
      return format.type satisfies never
  }
}

/** Characters follow each other from register to register in any case: only numbers have an order of words. */
function inBigEndian(registers: Buffer, { type, byteOrder, wordOrder }: ValueFormat): Buffer {
  const bytes = Buffer.from(registers)
  const isReversed = wordOrder === 'little' && type !== 'string'
  if (isReversed) bytes.reverse()
  // To reverse all of them has turned the bytes of each register around, too.
  return isReversed === (byteOrder === 'big') ? bytes.swap16() : bytes
}

function flag(register: number, bit: number | undefined): string {
  return String(bit === undefined ? register !== 0 : ((register >> bit) & 1) === 1)
}

/** Up to the first byte that is zero, without the spaces that fill it up. */
function text(bytes: Buffer): string {
  const end = bytes.indexOf(0)
  return JSON.stringify(utf8.decode(end < 0 ? bytes : bytes.subarray(0, end)).trimEnd())
}

/** With all its digits. Scaled it has those of a decimal: 3 by 0.1 is 0.3, which doubles would miss. */
function integer(value: number | bigint, { scale, offset }: ValueFormat): string | undefined {
  if (scale === 1 && offset === 0) return String(value)
  const digits = Math.min(digitsMax, Math.max(decimals(scale), decimals(offset)))
  return numberText(Number((Number(value) * scale + offset).toFixed(digits)))
}

function real(value: number, { scale, offset }: ValueFormat): string | undefined {
  return numberText(value * scale + offset)
}

function numberText(value: number): string | undefined {
  return Number.isFinite(value) ? String(value) : undefined
}

/** Digits behind the point of a number, as it is written. */
function decimals(value: number): number {
  const [mantissa = '', exponent = '0'] = String(value).split('e')
  const behind = mantissa.split('.')[1] ?? ''
  return Math.max(0, behind.length - Number(exponent))
}
