import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tickLabels, timeTicks } from '../../../console/src/charts/time-ticks.ts'
import { instantOf, offsetMs, shownAt } from '../../../console/src/charts/zone-clock.ts'

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
]
const zone = fc.constantFrom(...zones)
const instant = fc.integer({ min: Date.UTC(2005, 0), max: Date.UTC(2035, 0) })
const hour = 3_600_000

describe('ticks', () => {
  const range = fc
    .record({ zone, fromMs: instant, span: fc.integer({ min: 1000, max: 3 * 366 * 24 * hour }) })
    .map(({ span, ...rest }) => ({ ...rest, toMs: rest.fromMs + span }))

  test('lie within the range, one behind the other, and are not too many', () => {
    fc.assert(
      fc.property(range, fc.integer({ min: 1, max: 20 }), (of, max) => {
        const ticks = timeTicks(of, max)
        expect(ticks).toEqual(ticks.toSorted((one, other) => one - other))
        expect(new Set(ticks).size).toBe(ticks.length)
        expect(ticks.every((at) => at >= of.fromMs && at <= of.toMs)).toBe(true)
        // Where clocks change, one may come a little early.
        expect(ticks.length).toBeLessThanOrEqual(max + 3)
      }),
      { numRuns: 300 },
    )
  })

  test('show whole minutes wherever the range has more than a few', () => {
    fc.assert(
      fc.property(range, (of) => {
        fc.pre(of.toMs - of.fromMs > hour)
        expect(timeTicks(of, 8).every((at) => at % 60_000 === 0)).toBe(true)
      }),
    )
  })

  test('have a label each', () => {
    fc.assert(
      fc.property(range, (of) => {
        const ticks = timeTicks(of, 8)
        const labels = tickLabels(ticks, of.zone)
        expect(labels).toHaveLength(ticks.length)
        expect(labels.every((label) => label !== '')).toBe(true)
      }),
    )
  })

  test('of days are midnights, also of those with 23 and 25 hours', () => {
    const spring = week('2026-03-27T12:00:00Z', '2026-03-31T12:00:00Z', 'Europe/Berlin')
    expect(
      spring.filter((at) => shownAt(at, 'Europe/Berlin').getUTCHours() === 0).map(toIso),
    ).toEqual([
      '2026-03-27T23:00:00.000Z',
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
      '2026-03-30T22:00:00.000Z',
    ])
  })

  test('of an hour that clocks show twice are both of them', () => {
    const of = {
      fromMs: Date.UTC(2026, 10, 1, 4),
      toMs: Date.UTC(2026, 10, 1, 8),
      zone: 'America/New_York',
    }
    expect(tickLabels(timeTicks(of, 5), of.zone)).toEqual([
      '1 Nov',
      '01:00',
      '01:00',
      '02:00',
      '03:00',
    ])
  })
})

function week(from: string, to: string, name: string): readonly number[] {
  return timeTicks({ fromMs: Date.parse(from), toMs: Date.parse(to), zone: name }, 10)
}

function toIso(ms: number): string {
  return new Date(ms).toISOString()
}

test('what the clocks of a zone show leads back to an instant at which they show it', () => {
  fc.assert(
    fc.property(zone, instant, (name, at) => {
      const shown = shownAt(at, name).getTime()
      expect(shownAt(instantOf(shown, name), name).getTime()).toBe(shown)
    }),
    { numRuns: 1000 },
  )
})

test('offsets are those of the database of zones', () => {
  expect(offsetMs(Date.UTC(2026, 0), 'Europe/Berlin')).toBe(hour)
  expect(offsetMs(Date.UTC(2026, 6), 'Europe/Berlin')).toBe(2 * hour)
  expect(offsetMs(Date.UTC(2026, 6), 'Asia/Kathmandu')).toBe(5.75 * hour)
})
