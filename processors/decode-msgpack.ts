import type { DecodedMessage, UndecodableMessage } from '../src/contracts/reading.ts'
import { instantUsOf } from '../src/core/time.ts'
import {
  decodeItems,
  type Item,
  type ItemFormat,
  type Items,
  problem,
  truncated,
} from './decode-binary.ts'
import { instantItem, integerItem, textItem } from './decode-scalars.ts'
import { endOfMsgpackItem } from './msgpack-lengths.ts'

/**
 * Takes a MessagePack message apart (https://github.com/msgpack/msgpack/blob/master/spec.md).
 *
 * Read by hand: the library takes bytes that are no UTF-8 for other characters, leaves out byte
 * order marks, allocates what a length announces, and lets the last of equal keys win.
 */
export function decodeMsgpack(payload: Uint8Array): DecodedMessage | UndecodableMessage {
  return decodeItems(payload, msgpackFormat)
}

/** Number of the extension type that is a point in time. */
const timestampType = -1

class MsgpackItems implements Items {
  readonly bytes: Uint8Array
  readonly #view: DataView
  #position = 0

  constructor(payload: Uint8Array) {
    this.bytes = payload
    this.#view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength)
  }

  get position(): number {
    return this.#position
  }

  moveTo(position: number): void {
    this.#position = position
  }

  next(): Item {
    const head = this.#unsigned(1)
    if (head < 0x80) return { kind: 'scalar', value: head }
    if (head < 0x90) return { kind: 'map', length: head & 0x0f }
    if (head < 0xa0) return { kind: 'array', length: head & 0x0f }
    if (head < 0xc0) return textItem(this.#take(head & 0x1f))
    if (head >= 0xe0) return { kind: 'scalar', value: head - 0x100 }
    return this.#headed(head)
  }

  /** An item whose kind takes a whole byte, and what it says of itself the bytes after it. */
  #headed(head: number): Item {
    switch (head) {
      case 0xc0:
        return { kind: 'scalar', value: null }
      case 0xc2:
      case 0xc3:
        return { kind: 'scalar', value: head === 0xc3 }
      case 0xca:
        return { kind: 'scalar', value: this.#view.getFloat32(this.#skip(4)) }
      case 0xcb:
        return { kind: 'scalar', value: this.#view.getFloat64(this.#skip(8)) }
      case 0xcc:
      case 0xcd:
      case 0xce:
        return { kind: 'scalar', value: this.#unsigned(1 << (head - 0xcc)) }
      case 0xcf:
        return integerItem(this.#view.getBigUint64(this.#skip(8)))
      case 0xd0:
      case 0xd1:
      case 0xd2:
        return { kind: 'scalar', value: this.#signed(1 << (head - 0xd0)) }
      case 0xd3:
        return integerItem(this.#view.getBigInt64(this.#skip(8)))
      case 0xd9:
      case 0xda:
      case 0xdb:
        return textItem(this.#take(this.#unsigned(1 << (head - 0xd9))))
      case 0xdc:
      case 0xdd:
        return { kind: 'array', length: this.#unsigned(2 << (head - 0xdc)) }
      case 0xde:
      case 0xdf:
        return { kind: 'map', length: this.#unsigned(2 << (head - 0xde)) }
      case 0xc7:
        return this.#extension(this.#unsigned(1))
      case 0xd6:
      case 0xd7:
        return this.#extension(4 << (head - 0xd6))
      default:
        throw problem(refusedHead(head), this)
    }
  }

  /** Seconds, and nanoseconds in their own place where there are any; fractions are cut off. */
  #extension(length: number): Item {
    const type = this.#signed(1)
    if (type !== timestampType) throw problem(`the extension type ${type} is not supported`)
    switch (length) {
      case 4:
        return instantItem(instantUsOf(this.#unsigned(4), 0))
      case 8: {
        const packed = this.#view.getBigUint64(this.#skip(8))
        return instantOf(packed & 0x3_ffff_ffffn, packed >> 34n)
      }
      case 12: {
        const nanoseconds = BigInt(this.#unsigned(4))
        return instantOf(this.#view.getBigInt64(this.#skip(8)), nanoseconds)
      }
      default:
        throw problem(`a time has no ${length} bytes`)
    }
  }

  #unsigned(bytes: number): number {
    const at = this.#skip(bytes)
    if (bytes === 1) return this.#view.getUint8(at)
    return bytes === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at)
  }

  #signed(bytes: number): number {
    const at = this.#skip(bytes)
    if (bytes === 1) return this.#view.getInt8(at)
    return bytes === 2 ? this.#view.getInt16(at) : this.#view.getInt32(at)
  }

  #take(length: number): Uint8Array {
    const at = this.#skip(length)
    return this.bytes.subarray(at, at + length)
  }

  /** Goes on by so many bytes, and says where they began. */
  #skip(length: number): number {
    const at = this.#position
    if (length > this.bytes.length - at) throw truncated()
    this.#position += length
    return at
  }
}

function instantOf(seconds: bigint, nanoseconds: bigint): Item {
  if (nanoseconds >= 1_000_000_000n) throw problem('a time has more nanoseconds than a second')
  return instantItem(instantUsOf(seconds, Number(nanoseconds / 1_000n)))
}

function refusedHead(head: number): string {
  if (head === 0xc1) return 'not valid MessagePack: 0xc1 begins nothing'
  if (head >= 0xc4 && head <= 0xc6) return 'byte strings are no values of a reading'
  return 'extension types are not supported, except for times'
}

export const msgpackFormat: ItemFormat = {
  name: 'msgpack',
  open: (bytes) => new MsgpackItems(bytes),
  endOf: endOfMsgpackItem,
}
