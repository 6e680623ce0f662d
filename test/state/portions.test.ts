import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { padded, portionsOf } from '../../src/storage/state/portions.ts'

const isPowerOfTwo = (count: number) => Number.isInteger(Math.log2(count))

test('portions are all rows in their order, each as long as a power of two', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 1_000 }), (rows) => {
      const portions = portionsOf(rows)
      expect(portions.flat()).toEqual(rows)
      expect(portions.every(({ length }) => isPowerOfTwo(length) && length <= 128)).toBe(true)
    }),
  )
})

test('a padded list has the same ids, and is as long as a power of two', () => {
  fc.assert(
    fc.property(fc.array(fc.uuid(), { minLength: 1, maxLength: 300 }), (ids) => {
      expect(new Set(padded(ids))).toEqual(new Set(ids))
      expect(isPowerOfTwo(padded(ids).length)).toBe(true)
    }),
  )
})
