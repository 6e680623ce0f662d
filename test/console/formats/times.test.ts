import * as fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { ago, chosenZone, dateTime, span } from '../../../console/src/formats/times.ts'

const nowMs = Date.UTC(2026, 9, 25, 12)
const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Apia']

function secondsOf(text: string): number {
  const [number = '', unit = ''] = text.split(' ')
  return Number(number) * ({ s: 1, min: 60, h: 3600, d: 86_400 }[unit] ?? Number.NaN)
}

afterEach(() => {
  chosenZone.value = 'browser'
})

test('what has just happened is not said to be to come, though the time of the page lags behind', () => {
  fc.assert(
    fc.property(fc.double({ min: 1, max: 1999, noNaN: true }), (aheadMs) => {
      expect(ago(new Date(nowMs + Math.floor(aheadMs)), nowMs)).toBe('just now')
    }),
  )
})

test('what is past is ago, and what is to come is in', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 1e9 }), (seconds) => {
      expect(ago(nowMs - seconds * 1000, nowMs)).toBe(`${span(seconds)} ago`)
      expect(ago(nowMs + seconds * 1000, nowMs)).toBe(`in ${span(seconds)}`)
    }),
  )
})

test('a longer time never looks shorter', () => {
  fc.assert(
    fc.property(fc.nat(1e8), fc.nat(1e6), (seconds, more) => {
      expect(secondsOf(span(seconds + more))).toBeGreaterThanOrEqual(secondsOf(span(seconds)))
    }),
  )
})

test('times in a zone are in order, but in the hour that its clocks go through twice', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: 0, max: 4_000_000_000 }),
      (zone, seconds) => {
        chosenZone.value = zone
        const [first, second] = [dateTime(seconds * 1000), dateTime((seconds + 86_400) * 1000)]
        expect(first).toMatch(/^\d{4}-\d\d-\d\d [0-2]\d:\d\d:\d\d$/)
        expect(second > first).toBe(true)
      },
    ),
  )
})

test('the hour that is there twice in Berlin is told twice', () => {
  chosenZone.value = 'Europe/Berlin'
  expect(dateTime(Date.UTC(2026, 9, 25, 0, 30))).toBe('2026-10-25 02:30:00')
  expect(dateTime(Date.UTC(2026, 9, 25, 1, 30))).toBe('2026-10-25 02:30:00')
})
