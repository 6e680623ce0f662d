import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { curvePath, largestOf, roundMax } from '../../../console/src/formats/curves.ts'

const box = { width: 100, height: 10, max: 10 }
const slot = fc.option(fc.integer({ min: 0, max: 10 }), { nil: null })

describe('a curve', () => {
  test('goes through each value that is known, and begins anew after a gap', () => {
    fc.assert(
      fc.property(fc.array(slot, { maxLength: 30 }), (values) => {
        const path = curvePath(values, box)
        const begins = values.filter(
          (value, at) => value !== null && (values[at - 1] ?? null) === null,
        )
        expect(path.match(/[ML]/g)?.length ?? 0).toBe(
          values.filter((value) => value !== null).length,
        )
        expect(path.match(/M/g)?.length ?? 0).toBe(begins.length)
      }),
    )
  })

  test('stays within its box', () => {
    fc.assert(
      fc.property(fc.array(slot, { minLength: 2, maxLength: 30 }), (values) => {
        const numbers =
          curvePath(values, box)
            .replaceAll('h0.01', '')
            .match(/[\d.]+/g) ?? []
        const places = numbers.map(Number)
        expect(
          places.filter((place, at) => place < 0 || place > (at % 2 === 0 ? 100 : 10)),
        ).toEqual([])
      }),
    )
  })

  test('shows one value alone as a dot', () => {
    expect(curvePath([null, 5, null], box)).toBe('M50 5h0.01')
  })
})

describe('the top of a curve', () => {
  test('is round, not less than the largest, and at most ten times that', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e9, noNaN: true }), (value) => {
        const top = roundMax(value)
        expect(top).toBeGreaterThanOrEqual(value)
        expect(top).toBeLessThanOrEqual(10 * value)
        expect(['1', '2', '5']).toContain(
          Number(top.toPrecision(12)).toExponential().replace(/e.*/, ''),
        )
      }),
    )
  })

  test('is one where nothing is known', () => {
    expect(roundMax(largestOf([[null], []]))).toBe(1)
  })
})
