import { isUtf8 } from 'node:buffer'
import { problem, truncated } from './decode-binary.ts'

/** How a value is written (Protobuf, "Message structure"). */
export const wireType = { varint: 0, bits64: 1, bytes: 2, bits32: 5 } as const

/** A field as it stands before its value. */
export function tagOf(field: number, type: number): number {
  return (field << 3) | type
}

/** Both halves of the number that says that a series has ended (staleness marker of Prometheus). */
export const staleBits = [0x7f_f0_00_00, 2] as const

/** Bits of a varint that a double counts one by one. */
const exactBits = 49

/**
 * Reads the parts of a Protobuf message without an object for each: a request has ten labels for each sample, and
 * `ProtobufWire` would take most of the time.
 */
export class WireCursor {
  readonly bytes: Buffer
  readonly #view: DataView
  at = 0

  constructor(bytes: Buffer) {
    this.bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** The number of a field times eight, and its wire type. @throws UnreadableItem */
  tag(end: number): number {
    const tag = this.unsigned(end)
    if (tag < 8 || tag >= 2 ** 32)
      throw problem('not valid Protobuf: a field has no number', this.#place)
    return tag
  }

  /** A varint without a sign; beyond 2^53 it is rounded. @throws UnreadableItem */
  unsigned(end: number): number {
    const start = this.at
    let value = 0
    for (let shift = 0; shift < exactBits; shift += 7) {
      const byte = this.#byte(end)
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    this.at = start
    return Number(this.#bits(end))
  }

  /** A varint of an int64 or int32; beyond 2^53 it is rounded. @throws UnreadableItem */
  signed(end: number): number {
    const start = this.at
    const value = this.unsigned(end)
    if (value < 2 ** exactBits) return value
    this.at = start
    return Number(BigInt.asIntN(64, this.#bits(end)))
  }

  /** A varint of a sint64 or sint32, whose last bit is its sign; beyond 2^53 it is rounded. @throws UnreadableItem */
  zigzag(end: number): number {
    const start = this.at
    const value = this.unsigned(end)
    if (value < 2 ** exactBits) return value % 2 === 0 ? value / 2 : -(value + 1) / 2
    this.at = start
    const bits = this.#bits(end)
    return Number((bits >> 1n) ^ -(bits & 1n))
  }

  /** @throws UnreadableItem */
  double(end: number): number {
    const { at } = this
    this.#advance(8, end)
    return this.#view.getFloat64(at, true)
  }

  /** Whether a double with exactly these bits stands there: of numbers that are none, only their bits differ. */
  isDouble(high: number, low: number): boolean {
    if (this.at + 8 > this.bytes.length) return false
    return (
      this.#view.getUint32(this.at + 4, true) === high &&
      this.#view.getUint32(this.at, true) === low
    )
  }

  /** Where the value of a length that is written here ends. @throws UnreadableItem */
  endOfValue(end: number): number {
    const length = this.unsigned(end)
    if (length > end - this.at) throw truncated()
    return this.at + length
  }

  /** Passes over a value. @throws UnreadableItem */
  skip(tag: number, end: number): void {
    switch (tag & 7) {
      case wireType.varint:
        this.unsigned(end)
        return
      case wireType.bits64:
        this.#advance(8, end)
        return
      case wireType.bytes:
        this.at = this.endOfValue(end)
        return
      case wireType.bits32:
        this.#advance(4, end)
        return
      default:
        throw problem('not valid Protobuf: a value is written in an unknown way', this.#place)
    }
  }

  get #place() {
    return { position: this.at }
  }

  #advance(count: number, end: number): void {
    if (count > end - this.at) throw truncated()
    this.at += count
  }

  #byte(end: number): number {
    if (this.at >= end) throw truncated()
    return this.bytes[this.at++] as number
  }

  #bits(end: number): bigint {
    let bits = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte(end)
      bits |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, bits)
    }
    throw problem('not valid Protobuf: a number has more than 10 bytes', this.#place)
  }
}

/** The character that takes the place of bytes that are not UTF-8. */
const replacement = '\uFFFD'

/** A text; undefined where the bytes are not one, or have U+0000. */
export function textIn(bytes: Buffer, start: number, end: number): string | undefined {
  const text = bytes.toString('utf8', start, end)
  if (text.includes('\0')) return undefined
  const isText = !text.includes(replacement) || isUtf8(bytes.subarray(start, end))
  return isText ? text : undefined
}
