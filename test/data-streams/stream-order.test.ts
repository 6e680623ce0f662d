import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId } from '../../src/core/ids.ts'
import {
  decodeStreamCursor,
  encodeStreamCursor,
  placedSorts,
  rankedMax,
  rankedSorts,
  type StreamCursor,
} from '../../src/streams/data-streams/stream-order.ts'

const sorts = [...placedSorts, ...rankedSorts]
const id = fc.nat().map(() => newId())
const name = fc.string({ unit: 'binary', maxLength: 200 })

const cursor: fc.Arbitrary<StreamCursor> = fc.oneof(
  fc.record({
    sort: fc.constantFrom('created', '-created'),
    value: fc.nat(Number.MAX_SAFE_INTEGER),
    id,
  }),
  fc.record({ sort: fc.constantFrom('name', '-name'), value: name, id }),
  fc.record({ sort: fc.constantFrom(...rankedSorts), offset: fc.nat(rankedMax) }),
)

test('a cursor is what it was made of in its own order, and nothing in any other', () => {
  fc.assert(
    fc.property(cursor, fc.constantFrom(...sorts), (made, sort) => {
      const text = encodeStreamCursor(made)

      expect(decodeStreamCursor(text, made.sort)).toEqual(made)
      if (sort !== made.sort) expect(decodeStreamCursor(text, sort)).toBeUndefined()
    }),
  )
})

const forged = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.json().map((text) => Buffer.from(text).toString('base64url')),
  fc
    .tuple(
      fc.constantFrom(...sorts),
      fc.oneof(fc.integer(), fc.double(), name, fc.constant(null)),
      fc.oneof(name, fc.integer(), fc.constant(undefined)),
    )
    .map((parts) => Buffer.from(JSON.stringify(parts)).toString('base64url')),
)

test('what is taken as a cursor is spelled as we spell it', () => {
  fc.assert(
    fc.property(forged, fc.constantFrom(...sorts), (text, sort) => {
      const taken = decodeStreamCursor(text, sort)

      if (taken) expect(encodeStreamCursor(taken)).toBe(text)
    }),
    { numRuns: 1_000 },
  )
})
