import { isUtf8 } from 'node:buffer'
import { isRoundedInteger } from '../src/core/json-safety.ts'
import { formatUs, type InstantUs, isWritableInstant } from '../src/core/time.ts'
import { type Item, problem } from './decode-binary.ts'

/**
 * Scalars of binary formats, held to what is true of JSON anyway (decisions.md#formats,
 * decisions.md#numbers-and-texts).
 */

/** @throws UnreadableItem for bytes that are no UTF-8, and for U+0000 */
export function textItem(bytes: Uint8Array): Item {
  if (!isUtf8(bytes)) throw problem('a text is not valid UTF-8')
  const value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  if (value.includes('\0')) throw problem('U+0000 is not allowed in text')
  return { kind: 'scalar', value }
}

/** @throws UnreadableItem for an integer that a double would round */
export function integerItem(value: number | bigint): Item {
  if (!Number.isSafeInteger(value) && isRoundedInteger(String(value))) {
    throw problem(`the integer ${value} is beyond 2^53 and would be rounded`)
  }
  return { kind: 'scalar', value: Number(value) }
}

/** A point in time, which the format has a type of its own for: as JSON would write it. */
export function instantItem(instantUs: InstantUs): Item {
  if (!isWritableInstant(instantUs)) throw problem('a time is not in the years 0001 to 9999')
  return { kind: 'scalar', value: formatUs(instantUs) }
}
