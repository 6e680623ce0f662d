import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { gapsIn, lonePoints, usualDistance } from '../../../console/src/charts/gaps.ts'

const ascending = fc
  .array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 400 })
  .map((times) => times.toSorted((one, other) => one - other))

test('lines between gaps join points that are near each other, and no others', () => {
  fc.assert(
    fc.property(ascending, fc.integer({ min: 1, max: 5000 }), (times, distanceMax) => {
      const gaps = new Set(gapsIn(times, distanceMax))
      for (const [at, time] of times.entries()) {
        if (at > 0) expect(gaps.has(at)).toBe(time - (times[at - 1] ?? 0) > distanceMax)
      }
    }),
  )
})

test('a point is alone exactly when no line leads to it', () => {
  fc.assert(
    fc.property(ascending, fc.integer({ min: 1, max: 5000 }), (times, distanceMax) => {
      const gaps = gapsIn(times, distanceMax)
      const isGap = (at: number) => at === 0 || at === times.length || gaps.includes(at)
      const expected = times.map((_, at) => at).filter((at) => isGap(at) && isGap(at + 1))
      expect(lonePoints(times.length, gaps)).toEqual(expected)
    }),
  )
})

test('what comes at one pace has no gap, and one where it paused', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10_000 }),
      fc.integer({ min: 5, max: 300 }),
      fc.integer({ min: 2, max: 100 }),
      (pace, count, place) => {
        const at = 1 + (place % (count - 1))
        const times = Array.from(
          { length: count },
          (_, nth) => nth * pace + (nth >= at ? 4 * pace : 0),
        )
        const usual = usualDistance(times) ?? Number.NaN
        expect(usual).toBe(pace)
        expect(gapsIn(times, 3 * usual)).toEqual([at])
      },
    ),
  )
})

test('one point, and points of one time, have no usual distance', () => {
  expect(usualDistance([])).toBeUndefined()
  expect(usualDistance([5])).toBeUndefined()
  expect(usualDistance([5, 5, 5])).toBeUndefined()
})
