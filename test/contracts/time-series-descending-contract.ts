import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AggregateQuery, Fill } from '../../src/storage/time-series/aggregate-query.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import {
  aggregateQuery,
  allAggregates,
  allPoints,
  hourUs,
  marchUs,
  ship,
  storedReading,
} from '../support/stored-readings.ts'
import { type OpenNewStore, type OpenStore, withStreams } from './open-store.ts'

/** What every store promises of answers from behind: a part of `timeSeriesContract`. */
export function timeSeriesDescendingContract(open: OpenNewStore): void {
  describe('of raw readings', () => rawContract(open))
  describe('of aggregated points', () => aggregatedContract(open))
}

const bound = fc.integer({ min: -6, max: 6 })

/** Few different times, so that many readings have the same; around the change of a month. */
const crowdedUs = fc
  .tuple(fc.constantFrom(-1, 0, 1), fc.nat(2))
  .map(([minutes, us]) => marchUs + minutes * 60_000_000 + us)

function rawContract(open: OpenNewStore): void {
  const withHumidity = shapeOf({ temperature: { type: 'number' }, humidity: { type: 'number' } })
  const digest = fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    fc.constantFrom(0n, 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 63n + 1n, 2n ** 64n - 1n),
  )
  const notes = fc.record({ timestampUs: crowdedUs, digest, isOfSecondShape: fc.boolean() })
  const asked = fc.record({
    notes: fc.uniqueArray(notes, { maxLength: 30, selector: (one) => one.digest }),
    limit: fc.integer({ min: 1, max: 12 }),
    startUs: fc.oneof(crowdedUs, fc.constant(0)),
    endUs: fc.oneof(crowdedUs, fc.constant(253_402_300_800_000_000)),
  })

  test('is the reverse of that in ascending time, whatever the size of the pages', async () => {
    await withStreams(open, async ({ store }, newStream) => {
      await fc.assert(
        fc.asyncProperty(asked, async ({ notes: all, limit, startUs, endUs }) => {
          const streamId = newStream()
          const readings = all.map(({ isOfSecondShape, ...rest }, index) =>
            storedReading({
              ...rest,
              streamId,
              values: { temperature: index },
              ...(isOfSecondShape && { shape: withHumidity }),
            }),
          )
          await ship(store, readings)
          const range = { streamId, startUs, endUs }

          const ascending = await allPoints(store, { ...range, limit: 1_000 })
          const descending = await allPoints(store, { ...range, limit, order: 'desc' })

          expect(descending.toReversed()).toEqual(ascending)
        }),
        { numRuns: 40 },
      )
    })
  })

  test('begins with the newest reading of years', async () => {
    await using opened = await open()
    const times = Array.from({ length: 40 }, (_, index) => marchUs + index * 61 * 24 * hourUs)
    await ship(
      opened.store,
      times.map((timestampUs) => storedReading({ timestampUs })),
    )

    const points = await allPoints(opened.store, { limit: 3, order: 'desc' })

    expect(points.map(({ timestampUs }) => timestampUs)).toEqual(times.toReversed())
  })
}

const hourly = { kind: 'calendar', unit: 'hour', units: 1, zone: 'Europe/Berlin' } as const
const noteShape = shapeOf({ n: { type: 'integer' }, note: { type: 'string' } })

const fields: AggregateQuery['fields'] = [
  { key: 'n:max', name: 'n', type: 'bigint', function: 'max' },
  { key: 'n', name: 'n', type: 'bigint', function: 'avg' },
  { key: 'note', name: 'note', type: 'varchar', function: 'latest' },
]

function aggregatedContract(open: OpenNewStore): void {
  const reading = fc.record({
    stream: fc.nat(2),
    halfHour: fc.integer({ min: -12, max: 12 }),
    n: fc.integer({ min: -9, max: 9 }),
    length: fc.constantFrom(0, 1, 400),
  })
  const asked = fc.record({
    readings: fc.uniqueArray(reading, {
      maxLength: 20,
      selector: ({ stream, halfHour }) => `${stream} ${halfHour}`,
    }),
    limit: fc.integer({ min: 1, max: 9 }),
    bytesMax: fc.constantFrom(1, 700, 1_000_000),
    from: bound,
    hours: fc.nat(9),
    fill: fc.constantFrom<Fill>('none', 'null', 'previous', 'linear'),
  })

  test('is the reverse of that in ascending time, filled or not', async () => {
    await withStreams(open, async ({ store }, newStream) => {
      await fc.assert(
        fc.asyncProperty(asked, async ({ readings, limit, bytesMax, from, hours, fill }) => {
          const streamIds = [newStream(), newStream(), newStream()]
          await ship(
            store,
            readings.map(({ stream, halfHour, n, length }) =>
              storedReading({
                streamId: streamIds[stream] as string,
                shape: noteShape,
                timestampUs: marchUs + (halfHour * hourUs) / 2,
                values: { n, note: 'x'.repeat(length) },
              }),
            ),
          )
          const query = {
            series: seriesOf(streamIds),
            startUs: marchUs + from * hourUs + 1,
            endUs: marchUs + (from + hours) * hourUs + 2,
            buckets: hourly,
            fields,
            fill,
          }

          const ascending = await allAggregates(store, query)
          const descending = await allAggregates(store, {
            ...query,
            limit,
            bytesMax,
            order: 'desc',
          })

          expect(descending.toReversed()).toEqual(ascending)
        }),
        { numRuns: 60 },
      )
    })
  })

  test('goes on where a series is gone or has come', async () => {
    await using opened = await open()
    await shipHours(opened, ['a', 'b', 'c'])
    const query = aggregateQuery({ series: seriesOf(['a', 'b', 'c']), buckets: hourly, limit: 2 })

    const first = await opened.store.aggregate({ ...query, order: 'desc' })
    const series = seriesOf(['a', 'aa', 'c'])
    const second = await opened.store.aggregate({
      ...query,
      series,
      order: 'desc',
      after: first.next,
    })

    expect(first.points.map(({ series: key }) => key)).toEqual(['c', 'b'])
    expect(second.points.map(({ timestampUs, series: key }) => [timestampUs, key])).toEqual([
      [marchUs + hourUs, 'a'],
      [marchUs, 'c'],
    ])
  })
}

/** A reading of each stream in each of two hours. */
async function shipHours({ store }: OpenStore, streamIds: readonly string[]): Promise<void> {
  await ship(
    store,
    streamIds.flatMap((streamId) =>
      [0, 1].map((hour) => storedReading({ streamId, timestampUs: marchUs + hour * hourUs })),
    ),
  )
}

function seriesOf(streamIds: readonly string[]): AggregateQuery['series'] {
  return streamIds.toSorted().map((id) => ({ key: id, streamIds: [id] }))
}
