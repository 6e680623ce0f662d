import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { axisNumbers } from '../../../console/src/charts/axis-numbers.ts'

test('tell neighbours apart, in few characters', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -12, max: 12 }),
      fc.constantFrom(1, 2, 2.5, 5),
      fc.integer({ min: -20, max: 20 }),
      (power, factor, first) => {
        const step = factor * 10 ** power
        const splits = Array.from({ length: 6 }, (_, nth) => (first + nth) * step)
        const labels = axisNumbers(splits)
        expect(new Set(labels).size).toBe(6)
        expect(Math.max(...labels.map(({ length }) => length))).toBeLessThanOrEqual(10)
      },
    ),
  )
})

test('are in the usual words', () => {
  expect(axisNumbers([0, 0.5, 1])).toEqual(['0.0', '0.5', '1.0'])
  expect(axisNumbers([0, 10_000, 20_000])).toEqual(['0k', '10k', '20k'])
  expect(axisNumbers([0, 2_500_000])).toEqual(['0.0M', '2.5M'])
})
