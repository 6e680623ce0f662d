import { shortest } from '../../src/core/single-precision.ts'
import { registersAsInteger } from '../fields/register-sentinels.ts'
import { scaledInteger, scaledReal } from '../scaled-value.ts'
import type { RegisterItem, ValueFormat } from './options.ts'
import type { PlannedRead } from './read-plan.ts'

/** U+FEFF at the beginning is a character as any other: registers have no byte order mark. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * The value of a field, as JSON; undefined where it stands for none, or is a floating-point number that is none.
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
  if (format.missing.size > 0 && format.missing.has(registersAsInteger(bytes))) return undefined
  switch (format.type) {
    case 'bool':
      return flag(bytes.readUInt16BE(), format.bit)
    case 'string':
      return text(bytes.subarray(0, format.length))
    case 'int16':
      return scaledInteger(bytes.readInt16BE(), format)
    case 'uint16':
      return scaledInteger(bytes.readUInt16BE(), format)
    case 'int32':
      return scaledInteger(bytes.readInt32BE(), format)
    case 'uint32':
      return scaledInteger(bytes.readUInt32BE(), format)
    case 'int64':
      return scaledInteger(bytes.readBigInt64BE(), format)
    case 'uint64':
      return scaledInteger(bytes.readBigUInt64BE(), format)
    case 'float32':
      return scaledReal(Number(shortest(bytes.readFloatBE())), format)
    case 'float64':
      return scaledReal(bytes.readDoubleBE(), format)
    default:
      return format.type satisfies never
  }
}

/** Characters follow each other from register to register in any case: only numbers have an order of words. */
function inBigEndian(registers: Buffer, { type, byteOrder, wordOrder }: ValueFormat): Buffer {
  const bytes = Buffer.from(registers)
  const isReversed = wordOrder === 'little' && type !== 'string'
  if (isReversed) bytes.reverse()
  // Reversing all of them has turned the bytes of each register around, too.
  return isReversed === (byteOrder === 'big') ? bytes.swap16() : bytes
}

function flag(register: number, bit: number | undefined): string {
  return String(bit === undefined ? register !== 0 : ((register >> bit) & 1) === 1)
}

/** Reads a text up to the first byte that is zero, without the spaces that fill it up. */
function text(bytes: Buffer): string {
  const end = bytes.indexOf(0)
  return JSON.stringify(utf8.decode(end < 0 ? bytes : bytes.subarray(0, end)).replace(/ +$/, ''))
}
