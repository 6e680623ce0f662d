import * as fc from 'fast-check'
import type { JournalBatch, Offset } from '../../src/storage/journal/journal.ts'

/** More entries than any test appends. */
export const everything = 1_000_000

/** What one append is given: some bytes that stand for so many entries. */
export interface Appended {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly count: number
}

export const appended: fc.Arbitrary<Appended> = fc.record({
  bytes: fc.uint8Array({ minLength: 1, maxLength: 200 }).map((bytes) => new Uint8Array(bytes)),
  count: fc.integer({ min: 1, max: 50 }),
})

export const severalAppended = fc.array(appended, { minLength: 1, maxLength: 12 })

/** The batches as a reader has to find them, with their bytes in a form that compares well. */
export function numbered(batches: readonly Appended[]) {
  const offsets = offsetsOf(batches)
  return contentOf(
    batches.map(({ bytes, count }, index) => ({ firstOffset: offsets[index] ?? -1, count, bytes })),
  )
}

export function contentOf(batches: readonly JournalBatch[]) {
  return batches.map(({ firstOffset, count, bytes }) => ({
    firstOffset,
    count,
    bytes: Buffer.from(bytes).toString('hex'),
  }))
}

export function offsetsOf(batches: readonly { readonly count: number }[]): Offset[] {
  return batches.map((_, index) => totalOf(batches.slice(0, index)))
}

export function totalOf(batches: readonly { readonly count: number }[]): number {
  return sum(batches.map(({ count }) => count))
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
