import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { NaiveTimes } from '../../src/core/naive-times.ts'

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe']

/** What a clock in a zone shows at an instant, to the second. */
function wallTime(ms: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  return format.format(ms)
}

const between = { min: Date.UTC(2000, 0, 1) / 1_000, max: Date.UTC(2035, 0, 1) / 1_000 }

test('a time that names no zone is the first that a clock shows it, and settles with the last', () => {
  const readers = new Map(zones.map((zone) => [zone, new NaiveTimes(zone)]))
  fc.assert(
    fc.property(fc.integer(between), fc.constantFrom(...zones), (seconds, zone) => {
      const wall = wallTime(seconds * 1_000, zone)
      const reader = readers.get(zone) as NaiveTimes
      const first = Date.parse(reader.rfc3339(wall) ?? '')
      const last = reader.latestUs(wall) / 1_000
      expect(wallTime(first, zone)).toBe(wall)
      expect(wallTime(last, zone)).toBe(wall)
      expect(first).toBeLessThanOrEqual(seconds * 1_000)
      expect(last).toBeGreaterThanOrEqual(seconds * 1_000)
    }),
    { numRuns: 3_000 },
  )
})

test.each([
  ['Europe/Berlin', '2026-10-25 02:30:00', '2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'],
  ['Europe/Berlin', '2026-03-29 02:30:00', '2026-03-29T01:30:00Z', '2026-03-29T01:30:00Z'],
  ['Australia/Lord_Howe', '2026-04-05 01:45:00', '2026-04-04T14:45:00Z', '2026-04-04T15:15:00Z'],
  ['UTC', '2026-03-29 02:30:00.000001', '2026-03-29T02:30:00.000001Z', '2026-03-29T02:30:00.001Z'],
])('in %s, %s means %s, and at the latest %s', (zone, wall, first, last) => {
  const times = new NaiveTimes(zone)
  expect(Date.parse(times.rfc3339(wall) ?? '')).toBe(Date.parse(first))
  expect(times.latestUs(wall) / 1_000).toBe(Date.parse(last))
})

test.each(['infinity', '0000', '2026-03-01 12:00:00+02', ''])('%s is no such time', (text) => {
  expect(new NaiveTimes('UTC').rfc3339(text)).toBeUndefined()
  expect(new NaiveTimes('UTC').latestUs(text)).toBe(Number.POSITIVE_INFINITY)
})
