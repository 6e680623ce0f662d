import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstFrom, nearestPlace, stepped } from '../../../console/src/charts/places.ts'

const ascending = fc
  .array(fc.integer({ min: 0, max: 1000 }), { minLength: 1, maxLength: 60 })
  .map((times) => times.toSorted((one, other) => one - other))

test('no time is nearer than the nearest', () => {
  fc.assert(
    fc.property(ascending, fc.integer({ min: -50, max: 1050 }), (times, at) => {
      const found = times[nearestPlace(times, at)] ?? Number.NaN
      expect(Math.abs(found - at)).toBe(Math.min(...times.map((time) => Math.abs(time - at))))
    }),
  )
})

test('all before the first from a time are earlier', () => {
  fc.assert(
    fc.property(ascending, fc.integer({ min: -50, max: 1050 }), (times, at) => {
      expect(firstFrom(times, at)).toBe(times.filter((time) => time < at).length)
    }),
  )
})

test('steps end at the ends', () => {
  expect(stepped([1, 2, 3], 2, 1)).toBe(3)
  expect(stepped([1, 2, 3], 2, 10)).toBe(3)
  expect(stepped([1, 2, 3], 2, Number.NEGATIVE_INFINITY)).toBe(1)
  expect(stepped([], 2, 1)).toBeUndefined()
})
