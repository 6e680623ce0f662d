import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { liveEndMs } from '../../../console/src/pages/stream/live/live-end.ts'
import {
  LiveReadings,
  newestMax,
  pointsMax,
} from '../../../console/src/pages/stream/live/live-readings.ts'

function reading(second: number, fields: object): string {
  return JSON.stringify({
    timestamp: `2026-01-01T00:00:${String(second).padStart(2, '0')}.000000Z`,
    ...fields,
  })
}

const sent = fc.array(
  fc.record({ second: fc.integer({ min: 0, max: 59 }), value: fc.integer({ min: 0, max: 3 }) }),
  { minLength: 1, maxLength: 60 },
)

describe('readings that come while a page is open', () => {
  test('stand in the order of their times, whatever order they come in', () => {
    fc.assert(
      fc.property(sent, (all) => {
        const readings = new LiveReadings(['v'])
        for (const { second, value } of all) readings.take(reading(second, { v: value }))

        const times = [...(readings.bufferOf('v')?.times ?? [])]
        expect(times).toHaveLength(all.length)
        expect(times).toEqual(times.toSorted((one, other) => one - other))
      }),
    )
  })

  test('are not taken twice when it is gone on from the newest time', () => {
    fc.assert(
      fc.property(sent, fc.nat(), (all, cut) => {
        const ordered = all.toSorted((one, other) => one.second - other.second)
        const distinct = [...new Map(ordered.map((one) => [JSON.stringify(one), one])).values()]
        const texts = distinct.map(({ second, value }) => reading(second, { v: value }))
        const readings = new LiveReadings(['v'])
        const seen = 1 + (cut % texts.length)
        for (const text of texts.slice(0, seen)) readings.take(text)

        const from = readings.newestTime
        for (const text of texts.filter((one) => JSON.parse(one).timestamp >= from)) {
          readings.take(text, { isAgain: true })
        }
        expect(readings.count).toBe(texts.length)
      }),
    )
  })

  test('say the last value of each field, by time', () => {
    const readings = new LiveReadings(['v'])
    readings.take(reading(5, { v: 1, mode: 'eco' }))
    readings.take(reading(9, { v: 2 }))
    readings.take(reading(7, { v: 3, mode: 'late' }))
    expect(Object.fromEntries(readings.last)).toEqual({ v: 2, mode: 'eco' })
  })

  test('are bounded, and the table shows the last ones that came', () => {
    const readings = new LiveReadings(['v'])
    for (let nth = 0; nth < 2 * pointsMax; nth += 1) readings.take(reading(nth % 60, { v: nth }))
    expect(readings.bufferOf('v')?.size).toBe(pointsMax)
    expect(readings.newest().length).toBeLessThanOrEqual(2 * newestMax)
    expect(readings.newest()[0]?.['v']).toBe(2 * pointsMax - 1)
  })

  test('are counted by the second in which they arrive', () => {
    const readings = new LiveReadings(['v'])
    for (let nth = 0; nth < 100; nth += 1) {
      readings.take(reading(nth % 60, { v: 1 }), { arrivedAtMs: 1_000_000 + nth * 100 })
    }
    expect(readings.rate(1_010_000)).toBeCloseTo(10, 0)
    expect(readings.rate(1_040_000)).toBe(0)
  })
})

test('a chart ends now, unless the newest reading would not be seen then', () => {
  expect(liveEndMs(Number.NEGATIVE_INFINITY, 1000, 60)).toBe(1000)
  expect(liveEndMs(990, 1000, 60)).toBe(1000)
  expect(liveEndMs(900, 1000, 60)).toBe(900)
  expect(liveEndMs(1500, 1000, 60)).toBe(1500)
})
