import { describe, expect, test } from 'vitest'
import { compileStep } from '../../processors/transform.ts'
import { lineOf } from '../../src/streams/units/unit-conversion.ts'

function converted(value: number, from: string, to: string): number {
  const line = lineOf(from, to)
  if (typeof line === 'string') throw new Error(line)
  const values = { value }
  compileStep({ convert: { field: 'value', from, to, line } }, { value: { type: 'number' } })(
    values,
    0,
  )
  return values.value
}

describe('a conversion', () => {
  // Definitions of the SI, of the international yard and pound, and of the scales of temperature.
  test.each([
    [100, 'degC', 'degF', 212],
    [0, 'degC', 'degF', 32],
    [-40, 'degC', 'degF', -40],
    [212, 'degF', 'degC', 100],
    [98.6, 'degF', 'degC', 37],
    [0, 'degC', 'K', 273.15],
    [0, 'K', 'degC', -273.15],
    [9, 'Pa', 'kPa', 0.009],
    [1, 'bar', 'Pa', 100_000],
    [3.6, 'km/h', 'm/s', 1],
    [1, 'inch', 'cm', 2.54],
    [1, 'mile', 'km', 1.609344],
    [1, 'lbm', 'kg', 0.45359237],
    [1, 'kWh', 'MJ', 3.6],
    [1, 'hour', 's', 3600],
    [5, 'mm', 'mm', 5],
  ])('of %d %s to %s is %d', (value, from, to, expected) => {
    expect(converted(value, from, to)).toBeCloseTo(expected, 10)
  })

  test.each([
    [212, 'degF', 'degC', 100],
    [9, 'Pa', 'kPa', 0.009],
    [18, 'km/h', 'm/s', 5],
  ])('of %d %s to %s is exact where a double can be', (value, from, to, expected) => {
    expect(converted(value, from, to)).toBe(expected)
  })

  test.each([
    ['degC', 'kPa', 'degC cannot be converted to kPa'],
    ['m', 's', 'm cannot be converted to s'],
    ['parsec per fortnight', 'm/s', `there is no unit 'parsec per fortnight'`],
    ['m', 'constructor', `there is no unit 'constructor'`],
    ['m', 'm; import("fs")', `there is no unit 'm; import("fs")'`],
    ['celcius', 'degF', `there is no unit 'celcius' (did you mean celsius?)`],
    ['Kpa', 'psi', `there is no unit 'Kpa' (did you mean kPa?)`],
    ['°C', 'degF', `there is no unit '°C' (did you mean degC?)`],
    ['C', 'degF', 'C cannot be converted to degF (degC for C?)'],
    ['m', '', `there is no unit ''`],
    ['m', 'm'.repeat(65), `there is no unit '${'m'.repeat(65)}'`],
  ])('of %s to %s is refused', (from, to, problem) => {
    expect(lineOf(from, to)).toBe(problem)
  })
})
