import { expect, test } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import { Units } from '../../src/streams/units/units.ts'

test('units answer several questions at once, each with its own pairs', async () => {
  const units = new Units()
  const asked = [
    units.lines([
      { from: 'km', to: 'm' },
      { from: 'm', to: 's' },
    ]),
    units.lines([{ from: 'km', to: 'm' }]),
    units.lines([]),
    units.lines([{ from: 'degF', to: 'degC' }]),
  ] as const

  const [two, one, none, other] = await Promise.all(asked)

  const line = { start: 0, factor: 1000, isDivided: false, offset: 0 }
  expect(Object.fromEntries(two)).toEqual({ 'km > m': line, 'm > s': 'm cannot be converted to s' })
  expect(Object.fromEntries(one)).toEqual({ 'km > m': line })
  expect(none.size).toBe(0)
  expect(Object.fromEntries(other)).toEqual({
    'degF > degC': { start: 32, factor: 1.8, isDivided: true, offset: 0 },
  })
  expect(await units.lines([{ from: 'km', to: 'm' }])).toEqual(one)
})

test('units refuse more questions than one thread can answer', async () => {
  const units = new Units()
  const many = Array.from({ length: 9_000 }, (_, index) => ({ from: `a${index}`, to: 'm' }))
  const first = units.lines(many)
  const second = units.lines(many.map(({ to }, index) => ({ from: `b${index}`, to })))

  await expect(second).rejects.toThrow(DomainError)
  expect((await first).get('a1 > m')).toBe(`there is no unit 'a1'`)
})
