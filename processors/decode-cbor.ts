import { type Token, Tokenizer, Type } from 'cborg'
import type { DecodedMessage, UndecodableMessage } from '../src/contracts/reading.ts'
import { endOfCborItem } from './cbor-lengths.ts'
import {
  decodeItems,
  endItem,
  type Item,
  type ItemFormat,
  type Items,
  problem,
  truncated,
} from './decode-binary.ts'
import { instantItem, integerItem, textItem } from './decode-scalars.ts'
import { epochUs } from './times/epochs.ts'

/** Takes a CBOR message (RFC 8949) apart. */
export function decodeCbor(payload: Uint8Array): DecodedMessage | UndecodableMessage {
  return decodeItems(payload, cborFormat)
}

/** Tags that say that their content is a point in time (RFC 8949, section 3.4). */
const tagTimeText = 0
const tagEpochSeconds = 1

/** The upper three bits of an item that is a tag (RFC 8949, section 3.1). */
const majorTypeTag = 6

const libraryPrefix = 'CBOR decode error: '

/** How many bytes stand before the content of a text, by the lower five bits of its first byte. */
const headBytes: Readonly<Record<number, number>> = { 24: 2, 25: 3, 26: 5, 27: 9 }

const tokenOptions = { allowUndefined: false, allowBigInt: true } as const

/** Tokens of the library, held to what a reading can be. */
export class CborItems implements Items {
  readonly bytes: Uint8Array
  #tokens: Tokenizer
  /** The byte at which the tokens begin. */
  #tokensAt = 0

  constructor(payload: Uint8Array) {
    this.bytes = new Uint8Array(payload.buffer, payload.byteOffset, payload.byteLength)
    this.#tokens = new Tokenizer(this.bytes, tokenOptions)
  }

  get position(): number {
    return this.#tokensAt + this.#tokens.pos()
  }

  moveTo(position: number): void {
    this.#tokens = new Tokenizer(this.bytes.subarray(position), tokenOptions)
    this.#tokensAt = position
  }

  next(): Item {
    const start = this.position
    const token = this.#token()
    switch (token.type) {
      case Type.string:
        return textItem(this.#contentOf(token, start))
      case Type.uint:
      case Type.negint:
        return integerItem(token.value as number | bigint)
      case Type.float:
      case Type.true:
      case Type.false:
      case Type.null:
        return { kind: 'scalar', value: token.value }
      case Type.array:
        return { kind: 'array', length: token.value as number }
      case Type.map:
        return { kind: 'map', length: token.value as number }
      case Type.break:
        return endItem
      case Type.tag:
        return this.tagged(token.value as number | bigint)
      case Type.bytes:
        return this.bytesItem(token.value as Uint8Array, start)
      default:
        throw problem('undefined is not a value of a reading', { position: start })
    }
  }

  #token(): Token {
    if (this.#tokens.done()) throw truncated()
    try {
      return this.#tokens.next()
    } catch (error) {
      const { message } = error as Error
      if (!message.startsWith(libraryPrefix)) throw error
      throw problem(`not valid CBOR: ${message.slice(libraryPrefix.length)}`, this)
    }
  }

  /** The library mends invalid UTF-8 and leaves out byte order marks: the bytes are read anew. */
  #contentOf({ encodedLength = 0 }: Token, start: number): Uint8Array {
    const head = headBytes[(this.bytes[start] ?? 0) & 0x1f] ?? 1
    return this.bytes.subarray(start + head, start + encodedLength)
  }

  protected bytesItem(_: Uint8Array, start: number): Item {
    throw problem('byte strings are no values of a reading', { position: start })
  }

  protected tagged(tag: number | bigint): Item {
    if (tag !== tagTimeText && tag !== tagEpochSeconds) throw problem(`tag ${tag} is not supported`)
    const { kind, value } = this.untagged()
    if (kind === 'scalar') {
      if (tag === tagTimeText && typeof value === 'string') return { kind, value }
      if (tag === tagEpochSeconds && typeof value === 'number') {
        return instantItem(epochUs(value, 0))
      }
    }
    throw problem(`tag ${tag} has the wrong content`, this)
  }

  /** What a tag is about. Tags within tags say nothing of a reading, and there may be millions. */
  protected untagged(): Item {
    const isTag = (this.bytes[this.position] ?? 0) >> 5 === majorTypeTag
    if (isTag) throw problem('a tag within a tag is not supported', this)
    return this.next()
  }
}

export const cborFormat: ItemFormat = {
  name: 'cbor',
  open: (bytes) => new CborItems(bytes),
  endOf: endOfCborItem,
}
