import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ReadingsQuery } from '../../src/storage/time-series/readings-query.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { ShippedReading } from '../../src/storage/time-series/shipment.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'
import { hourUs, marchUs, ship, storedReading } from '../support/stored-readings.ts'

const shapes = [
  shapeOf({ temperature: { type: 'number' } }),
  shapeOf({ temperature: { type: 'number' }, note: { type: 'string' } }),
] as const

/** Bursts and gaps: microseconds, hours, months between one reading and the next. */
const distanceUs = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 3 }) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 5 }).map((hours) => hours * hourUs) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 30 }).map((days) => days * 24 * hourUs * 9) },
)

const sent = fc.record({ distanceUs, shape: fc.constantFrom(0, 1), noteLength: fc.nat(40) })

const question = fc.record({
  limit: fc.integer({ min: 1, max: 12 }),
  bytesMax: fc.integer({ min: 1, max: 800 }),
  from: fc.nat(60),
  to: fc.nat(60),
  hintUs: fc.constantFrom(undefined, 1, 1_000, hourUs, 10_000 * hourUs),
})

test('pages of any size hold each reading of the range once, in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(sent, { minLength: 1, maxLength: 60 }),
      fc.array(question, { minLength: 1, maxLength: 4 }),
      async (all, questions) => {
        await using opened = await openDuckDbStore()
        let timestampUs = marchUs
        const readings = all.map(({ distanceUs: distance, shape, noteLength }) => {
          timestampUs += distance
          const note = shape === 1 ? { note: 'n'.repeat(noteLength) } : {}
          const values = { temperature: 1, ...note }
          return storedReading({ shape: shapes[shape], timestampUs, values })
        })
        await ship(opened.store, readings)
        const timeAt = (index: number) => readings[index]?.timestampUs ?? timestampUs + 1

        for (const { limit, bytesMax, from, to, hintUs } of questions) {
          const [startUs, endUs] = [timeAt(Math.min(from, to)), timeAt(Math.max(from, to))]
          const query = { ...wholeQuery, startUs, endUs, limit, bytesMax }
          const times: number[] = []
          let after: ReadingsQuery['after']
          do {
            const hinted = after && hintUs !== undefined ? { ...after, spanUs: hintUs } : after
            const page = await opened.store.query({ ...query, after: hinted })
            expect(page.points.length).toBeLessThanOrEqual(limit)
            times.push(...page.points.map((point) => point.timestampUs))
            after = page.next
          } while (after !== undefined)
          expect(times).toEqual(timesWithin(readings, startUs, endUs))
        }
      },
    ),
    { numRuns: 25 },
  )
})

test('a page ends before it has too many bytes, but never without a reading', async () => {
  await using opened = await openDuckDbStore()
  const extra = { blob: 'x'.repeat(10_000) }
  const readings = [0, 1, 2, 3, 4].map((second) =>
    storedReading({ timestampUs: marchUs + second * 1_000_000, extra }),
  )
  await ship(opened.store, readings)
  const pageOf = async (bytesMax: number) =>
    (await opened.store.query({ ...wholeQuery, bytesMax })).points.length

  expect(await pageOf(25_000)).toBe(2)
  expect(await pageOf(1)).toBe(1)
  expect(await pageOf(100_000)).toBe(5)
})

const wholeQuery: ReadingsQuery = {
  streamId: 'boiler',
  startUs: 0,
  endUs: Number.MAX_SAFE_INTEGER,
  fields: [],
  limit: 10_000,
  bytesMax: 1_000_000_000,
  after: undefined,
}

function timesWithin(
  readings: readonly ShippedReading[],
  startUs: number,
  endUs: number,
): readonly number[] {
  return readings
    .map(({ timestampUs }) => timestampUs)
    .filter((timestampUs) => timestampUs >= startUs && timestampUs < endUs)
}
