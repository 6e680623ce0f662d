import { ScalarType } from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { problem, truncated } from './decode-binary.ts'
import { integerItem, textItem } from './decode-scalars.ts'

/** Where a field begins: its number, and how its value is written. */
export interface Tag {
  readonly number: number
  readonly wireType: WireType
}

/** Reads the parts of a Protobuf message, held to what a reading can be. */
export class ProtobufWire {
  readonly bytes: Uint8Array
  readonly #reader: BinaryReader
  #valuesLeft: number

  constructor(payload: Uint8Array, valuesMax: number) {
    this.bytes = payload
    this.#reader = new BinaryReader(payload)
    this.#valuesLeft = valuesMax
  }

  get position(): number {
    return this.#reader.pos
  }

  set position(at: number) {
    this.#reader.pos = at
  }

  /** How many values may still come. */
  get valuesLeft(): number {
    return this.#valuesLeft
  }

  /** @throws UnreadableItem when there are too many values in the message */
  count(values = 1): void {
    if (this.#valuesLeft < values) throw problem('there are too many values in one message')
    this.#valuesLeft -= values
  }

  /** A value that is written with a long name counts as several: its bytes do not show that. */
  countNamed(name: string): void {
    this.count(1 + (name.length >> 5))
  }

  /** @throws UnreadableItem */
  tag(end: number): Tag {
    const [number, wireType] = this.#read(end, () => this.#reader.tag())
    return { number, wireType }
  }

  /** Where the value of a length that is written here ends. @throws UnreadableItem */
  endOfValue(end: number): number {
    const length = this.#read(end, () => this.#reader.uint32())
    if (length > end - this.position) throw truncated()
    return this.position + length
  }

  /** Passes over a value that nobody knows. @throws UnreadableItem */
  skip({ number, wireType }: Tag, end: number): void {
    this.#read(end, () => this.#reader.skip(wireType, number))
  }

  /** A value of a type that is no message. @throws UnreadableItem */
  scalar(type: ScalarType, end: number): unknown {
    if (type === ScalarType.STRING) return textItem(this.#content(end)).value
    if (type === ScalarType.BYTES) return Buffer.from(this.#content(end)).toString('base64')
    const value = this.#read(end, () => this.#number(type))
    return typeof value === 'bigint' ? integerItem(value).value : value
  }

  /**
   * A varint, or eight bytes, as it stands there, without a sign: it may have more digits than a double.
   *
   * @throws UnreadableItem
   */
  bits(end: number, isFixed = false): bigint {
    return this.#read(end, () => BigInt(isFixed ? this.#reader.fixed64() : this.#reader.uint64()))
  }

  #content(end: number): Uint8Array {
    const last = this.endOfValue(end)
    const content = this.bytes.subarray(this.position, last)
    this.position = last
    return content
  }

  #number(type: ScalarType): number | bigint | boolean {
    const reader = this.#reader
    switch (type) {
      case ScalarType.DOUBLE:
        return reader.double()
      case ScalarType.FLOAT:
        return reader.float()
      case ScalarType.INT32:
        return reader.int32()
      case ScalarType.UINT32:
        return reader.uint32()
      case ScalarType.SINT32:
        return reader.sint32()
      case ScalarType.FIXED32:
        return reader.fixed32()
      case ScalarType.SFIXED32:
        return reader.sfixed32()
      case ScalarType.BOOL:
        return reader.bool()
      case ScalarType.INT64:
        return BigInt(reader.int64())
      case ScalarType.UINT64:
        return BigInt(reader.uint64())
      case ScalarType.SINT64:
        return BigInt(reader.sint64())
      case ScalarType.FIXED64:
        return BigInt(reader.fixed64())
      case ScalarType.SFIXED64:
        return BigInt(reader.sfixed64())
      case ScalarType.STRING:
      case ScalarType.BYTES:
        throw new Error('it is not a number')
      default:
        return type satisfies never
    }
  }

  /** The library has no class for what is wrong with bytes, and may read beyond an end. */
  #read<Value>(end: number, read: () => Value): Value {
    if (this.position >= end) throw truncated()
    let value: Value
    try {
      value = read()
    } catch (error) {
      throw problem(`not valid Protobuf: ${(error as Error).message}`, this)
    }
    if (this.position > end) throw truncated()
    return value
  }
}

const wireTypes: Readonly<Partial<Record<ScalarType, WireType>>> = {
  [ScalarType.DOUBLE]: WireType.Bit64,
  [ScalarType.FIXED64]: WireType.Bit64,
  [ScalarType.SFIXED64]: WireType.Bit64,
  [ScalarType.FLOAT]: WireType.Bit32,
  [ScalarType.FIXED32]: WireType.Bit32,
  [ScalarType.SFIXED32]: WireType.Bit32,
  [ScalarType.STRING]: WireType.LengthDelimited,
  [ScalarType.BYTES]: WireType.LengthDelimited,
}

/** How a single value of a type is written. */
export function wireTypeOf(type: ScalarType): WireType {
  return wireTypes[type] ?? WireType.Varint
}

/** What an absent value of a type means. */
export function zeroOf(type: ScalarType): unknown {
  if (type === ScalarType.STRING || type === ScalarType.BYTES) return ''
  return type === ScalarType.BOOL ? false : 0
}
