import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type {
  AggregateQuery,
  Buckets,
  Fill,
} from '../../src/storage/time-series/aggregate-query.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import { modelAggregates } from '../support/aggregation-model.ts'
import {
  dailyAverages,
  fieldsOf,
  nearly,
  ofAnything,
  ofNumbers,
} from '../support/aggregation-samples.ts'
import { allAggregates, hourUs, marchUs, ship, storedReading } from '../support/stored-readings.ts'
import { type OpenNewStore, withStreams } from './open-store.ts'

/**
 * What every store promises about aggregated points: a part of `timeSeriesContract`.
 *
 * @param share the part of the random cases that is tried
 */
export function timeSeriesAggregationContract(open: OpenNewStore, share = 1): void {
  describe('equals an independent computation', () => modelContract(open, share))
  describe('of many series', () => seriesContract(open, share))
}

const everyFunction = [
  ...fieldsOf('temperature', 'double', ofNumbers),
  ...fieldsOf('starts', 'bigint', ofNumbers),
  ...fieldsOf('mode', 'varchar', ofAnything),
  ...fieldsOf('isOn', 'boolean', ofAnything),
  ...fieldsOf('servicedAt', 'timestamp', [...ofAnything, 'min', 'max']),
  ...fieldsOf('position', 'json', ofAnything),
]

const shape = shapeOf({
  temperature: { type: 'number' },
  starts: { type: 'integer' },
  mode: { type: 'string' },
  isOn: { type: 'boolean' },
  servicedAt: { type: 'datetime' },
  position: { type: 'object' },
})

const values = fc.record(
  {
    temperature: fc.double({ min: -1e6, max: 1e6, noNaN: true }),
    starts: fc.integer({ min: -1_000_000, max: 1_000_000 }),
    mode: fc.constantFrom('heat', 'cool', 'off'),
    isOn: fc.boolean(),
    servicedAt: fc.constantFrom('2026-01-01T00:00:00.000000Z', '2026-01-02T00:00:00.000001Z'),
    position: fc.record({ x: fc.integer() }),
  },
  { requiredKeys: [] },
)

/** Instants at which clocks change, or a day is missing. */
const changes: Readonly<Record<string, readonly string[]>> = {
  UTC: ['2026-03-01T00:00:00Z'],
  'Europe/Berlin': ['2026-03-29T01:00:00Z', '2025-10-26T01:00:00Z'],
  'America/New_York': ['2026-03-08T07:00:00Z', '2025-11-02T06:00:00Z'],
  'Australia/Lord_Howe': ['2025-10-04T15:30:00Z', '2026-04-04T15:00:00Z'],
  'Asia/Kathmandu': ['2026-02-28T18:15:00Z', '1985-12-31T18:30:00Z'],
  'Pacific/Apia': ['2011-12-30T10:00:00Z', '2021-04-03T14:00:00Z'],
  'America/Santiago': ['2025-09-07T04:00:00Z', '2026-04-05T03:00:00Z'],
  'America/Sao_Paulo': ['2018-11-04T03:00:00Z', '2019-02-17T02:00:00Z'],
}

const place = fc
  .constantFrom(
    ...Object.entries(changes).flatMap(([zone, times]) => times.map((time) => ({ zone, time }))),
  )
  .map(({ zone, time }) => ({ zone, aroundUs: Date.parse(time) * 1_000 }))

const calendars = (zone: string): readonly Buckets[] => [
  { kind: 'calendar', unit: 'hour', units: 1, zone },
  { kind: 'calendar', unit: 'day', units: 1, zone },
  { kind: 'calendar', unit: 'day', units: 3, zone },
  { kind: 'calendar', unit: 'week', units: 1, zone },
  { kind: 'calendar', unit: 'month', units: 1, zone },
]

const durations: readonly Buckets[] = [30, 900, 21_600].map((seconds) => ({
  kind: 'fixed',
  widthUs: seconds * 1_000_000,
}))

/** About as far from the change of the clocks as a few buckets reach. */
function reachUs(buckets: Buckets): number {
  if (buckets.kind === 'fixed') return buckets.widthUs * 5
  return hourUs * { hour: 4, day: 72, week: 24 * 20, month: 24 * 80 }[buckets.unit]
}

/** About as much as nothing, one point, a few of them and any page have. */
const bytesMax = fc.constantFrom(1, 1_300, 4_000, 1_000_000)

interface Question {
  readonly readings: readonly { timestampUs: number; values: Record<string, unknown> }[]
  readonly query: Pick<
    AggregateQuery,
    'startUs' | 'endUs' | 'buckets' | 'fill' | 'limit' | 'bytesMax'
  >
}

function question(fills: readonly Fill[]): fc.Arbitrary<Question> {
  return place.chain(({ zone, aroundUs }) =>
    fc.constantFrom(...calendars(zone), ...durations).chain((buckets) => {
      const reach = reachUs(buckets)
      const time = fc
        .oneof(fc.integer({ min: -reach, max: reach }), fc.integer({ min: -2, max: 2 }))
        .map((us) => aroundUs + us)
      return fc.record({
        readings: fc.array(fc.record({ timestampUs: time, values }), { maxLength: 25 }),
        query: fc
          .record({
            times: fc.tuple(time, time).map((both) => both.toSorted((one, two) => one - two)),
            buckets: fc.constant(buckets),
            fill: fc.constantFrom(...fills),
            limit: fc.integer({ min: 1, max: 9 }),
            bytesMax,
          })
          .map(({ times: [startUs = 0, endUs = 0], ...rest }) => ({ startUs, endUs, ...rest })),
      })
    }),
  )
}

function modelContract(open: OpenNewStore, share: number): void {
  test.each([
    ['without filling', ['none']],
    ['filled', ['null', 'previous', 'linear']],
  ] as const)('over any zone, range, bucket and page, %s', async (_, fills) => {
    await withStreams(open, async ({ store }, newStream) => {
      await fc.assert(
        fc.asyncProperty(question(fills), async ({ readings: notes, query: asked }) => {
          const streamId = newStream()
          const readings = notes.map((one) => storedReading({ ...one, streamId, shape }))
          await ship(store, readings)
          const series = [{ key: streamId, streamIds: [streamId] }]
          const query = { ...asked, series, fields: everyFunction, after: undefined }

          const points = await allAggregates(store, query)

          expect(points).toEqual(modelAggregates(readings, query).map(nearly))
        }),
        { numRuns: 120 * share },
      )
    })
  })

  test('for buckets that span many months without readings', async () => {
    await using opened = await open()
    const years = [1970, 1971, 1999, 2000, 2026]
    const readings = years.flatMap((year) =>
      [1, 2].map((month) => storedReading({ timestampUs: Date.UTC(year, month) * 1_000 })),
    )
    await ship(opened.store, readings)
    const buckets: Buckets = { kind: 'fixed', widthUs: 30_000_000 }

    const points = await allAggregates(opened.store, { buckets, limit: 3 })

    expect(points.map(({ timestampUs }) => timestampUs)).toEqual(
      readings.map(({ timestampUs }) => timestampUs),
    )
  })
}

function seriesContract(open: OpenNewStore, share: number): void {
  const streams = fc.array(
    fc.record({
      series: fc.constantFrom('a', 'b', 'c'),
      readings: fc.array(
        fc.record({ timestampUs: fc.nat(5 * 24).map((hour) => marchUs + hour * hourUs), values }),
        { maxLength: 6 },
      ),
    }),
    { minLength: 1, maxLength: 8 },
  )

  test('equals an independent computation, page by page', async () => {
    const asked = fc.record({
      streams,
      fill: fc.constantFrom<Fill>('none', 'null', 'previous', 'linear'),
      limit: fc.integer({ min: 1, max: 7 }),
      bytesMax,
    })
    await withStreams(open, async ({ store }, newStream) => {
      await fc.assert(
        fc.asyncProperty(asked, async ({ streams: all, fill, ...limits }) => {
          const named = all.map((one) => ({ ...one, streamId: newStream() }))
          const readings = named.flatMap(({ streamId, readings: notes }) =>
            notes.map((one) => storedReading({ ...one, streamId, shape })),
          )
          await ship(store, readings)
          const groups = Map.groupBy(named, ({ series }) => series)
          const query: AggregateQuery = {
            series: [...groups.keys()].toSorted().map((key) => ({
              key,
              streamIds: (groups.get(key) ?? []).map(({ streamId }) => streamId),
            })),
            startUs: marchUs - hourUs,
            endUs: marchUs + 5 * 24 * hourUs,
            buckets: { kind: 'calendar', unit: 'day', units: 1, zone: 'UTC' },
            fields: everyFunction,
            fill,
            ...limits,
            after: undefined,
          }

          const points = await allAggregates(store, query)

          expect(points).toEqual(modelAggregates(readings, query).map(nearly))
        }),
        { numRuns: 60 * share },
      )
    })
  })

  test('goes on behind the cursor when series come and go', async () => {
    await using opened = await open()
    const ids = ['a', 'b', 'c', 'd']
    await ship(
      opened.store,
      ids.map((streamId) => storedReading({ streamId })),
    )
    const series = ids.map((key) => ({ key, streamIds: [key] }))
    const after = { timestampUs: marchUs, series: 'b' }
    const query = { ...dailyAverages, limit: 1, after }

    const page = await opened.store.aggregate({ ...query, series })
    const withoutB = series.filter(({ key }) => key !== 'b')
    const changed = await opened.store.aggregate({ ...query, series: withoutB })

    expect(page).toEqual(changed)
    expect(page.points.map((point) => point.series)).toEqual(['c'])
    expect(page.next).toEqual({ timestampUs: marchUs, series: 'c' })
  })

  test('counts a reading only for streams that are asked about', async () => {
    await using opened = await open()
    await ship(opened.store, [
      storedReading({ streamId: 'a', values: { temperature: 1 } }),
      storedReading({ streamId: 'b', values: { temperature: 100 } }),
      storedReading({ streamId: 'c', values: { temperature: 3 } }),
    ])
    const series = [{ key: 'all', streamIds: ['a', 'c', 'unknown'] }]

    const { points } = await opened.store.aggregate({ ...dailyAverages, series })

    expect(points).toEqual([
      { timestampUs: marchUs, series: 'all', count: 2, values: { temperature: 2 } },
    ])
  })

  test('tells streams apart that thousands of others came between', async () => {
    await using opened = await open()
    const ids = Array.from({ length: 2_000 }, (_, index) => `stream-${index}`)
    await ship(
      opened.store,
      ids.map((streamId, index) => storedReading({ streamId, values: { temperature: index } })),
    )
    const series = ids
      .filter((_, index) => index % 1_999 === 0)
      .map((id) => ({ key: id, streamIds: [id] }))

    const { points } = await opened.store.aggregate({ ...dailyAverages, series })

    expect(points.map((point) => [point.series, point.values['temperature']])).toEqual([
      ['stream-0', 0],
      ['stream-1999', 1_999],
    ])
  })
}
