import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type {
  AggregateQuery,
  Buckets,
  Fill,
} from '../../src/storage/time-series/aggregate-query.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import { modelAggregates } from '../support/aggregation-model.ts'
import { dailyAverages, fieldsOf, nearly } from '../support/aggregation-samples.ts'
import { allAggregates, hourUs, marchUs, ship, storedReading } from '../support/stored-readings.ts'
import { type OpenNewStore, withStreams } from './open-store.ts'

/**
 * What every store promises about averages by time: a part of `timeSeriesContract`.
 *
 * @param share the part of the random cases that is tried
 */
export function timeSeriesTimeWeightsContract(open: OpenNewStore, share = 1): void {
  describe('equals an independent computation', () => modelContract(open, share))
  describe('in examples', () => exampleContract(open))
}

const shapes = {
  both: shapeOf({ temperature: { type: 'number' }, starts: { type: 'integer' } }),
  other: shapeOf({ temperature: { type: 'integer' } }),
} as const

const values = fc.record(
  { temperature: fc.integer({ min: -50, max: 50 }), starts: fc.integer({ min: 0, max: 9 }) },
  { requiredKeys: [] },
)

/** In Berlin an hour is left out then, at the end of a month. */
const changeUs = Date.UTC(2026, 2, 29, 1) * 1_000

const zone = 'Europe/Berlin'
const bucketKinds: readonly Buckets[] = [
  { kind: 'calendar', unit: 'hour', units: 1, zone },
  { kind: 'calendar', unit: 'day', units: 1, zone },
  { kind: 'calendar', unit: 'day', units: 3, zone },
  { kind: 'calendar', unit: 'week', units: 1, zone },
  { kind: 'calendar', unit: 'month', units: 1, zone },
  { kind: 'fixed', widthUs: 6 * hourUs },
]

const aroundUs = fc.oneof(
  fc.integer({ min: -100, max: 100 }).map((half) => changeUs + (half * hourUs) / 2),
  fc.integer({ min: -5, max: 5 }).map((us) => changeUs + us),
)

const streamsOf = fc.array(
  fc.record({
    series: fc.constantFrom('a', 'b'),
    holdUs: fc.constantFrom(undefined, 1, hourUs, 7 * hourUs, 40 * 24 * hourUs),
    readings: fc.array(
      fc.record({ timestampUs: aroundUs, values, kind: fc.constantFrom('both', 'other') }),
      { maxLength: 12 },
    ),
  }),
  { minLength: 1, maxLength: 3 },
)

const asked = fc.record({
  streams: streamsOf,
  times: fc.tuple(aroundUs, aroundUs).map((both) => both.toSorted((one, two) => one - two)),
  untilUs: aroundUs,
  buckets: fc.constantFrom(...bucketKinds),
  fill: fc.constantFrom<Fill>('none', 'null', 'previous', 'linear'),
  limit: fc.integer({ min: 1, max: 9 }),
})

const fields = [
  ...fieldsOf('temperature', 'double', ['avg', 'max', 'count', 'latest']),
  ...fieldsOf('starts', 'bigint', ['avg', 'sum']),
]

function modelContract(open: OpenNewStore, share: number): void {
  test('over any streams, range, bucket and page', async () => {
    await withStreams(open, async ({ store }, newStream) => {
      await fc.assert(
        fc.asyncProperty(asked, async ({ streams, times: [startUs = 0, endUs = 0], ...rest }) => {
          const named = streams.map((one) => ({ ...one, streamId: newStream() }))
          const readings = named.flatMap(({ streamId, readings: notes }) =>
            notes.map(({ kind, ...one }) => {
              const { temperature = 0 } = one.values
              const own = kind === 'both' ? one.values : { temperature }
              return storedReading({ ...one, values: own, streamId, shape: shapes[kind] })
            }),
          )
          await ship(store, readings)
          const groups = Map.groupBy(named, ({ series }) => series)
          const { untilUs, ...others } = rest
          const query: AggregateQuery = {
            ...others,
            series: [...groups.keys()].toSorted().map((key) => ({
              key,
              streamIds: (groups.get(key) ?? []).map(({ streamId }) => streamId),
            })),
            startUs,
            endUs,
            fields,
            timeWeights: {
              holdsUs: new Map(
                named.flatMap(({ streamId, holdUs }) =>
                  holdUs === undefined ? [] : [[streamId, holdUs]],
                ),
              ),
              untilUs,
            },
            after: undefined,
          }

          const points = await allAggregates(store, query)

          expect(points).toEqual(modelAggregates(readings, query).map(nearly))
        }),
        { numRuns: 150 * share },
      )
    })
  })
}

function exampleContract(open: OpenNewStore): void {
  const averageOf = async (
    notes: readonly (readonly [hours: number, temperature: number])[],
    query: Partial<AggregateQuery> = {},
    holdUs = 24 * hourUs,
  ) => {
    await using opened = await open()
    const readings = notes.map(([hours, temperature]) =>
      storedReading({
        timestampUs: Math.round(marchUs + hours * hourUs),
        values: { temperature },
      }),
    )
    await ship(opened.store, readings)
    const timeWeights = {
      holdsUs: new Map([['boiler', holdUs]]),
      untilUs: Number.MAX_SAFE_INTEGER,
    }
    const points = await allAggregates(opened.store, { ...dailyAverages, timeWeights, ...query })
    return points.map((point) => point.values['temperature'])
  }

  test('a reading counts until the next one', async () => {
    expect(
      await averageOf([
        [0, 10],
        [18, 30],
      ]),
    ).toEqual([15])
  })

  test('what was in force when the bucket began counts until its first reading', async () => {
    expect(
      await averageOf([
        [-1, 10],
        [6, 30],
      ]),
    ).toEqual([10, 25])
  })

  test('a long silence counts for nothing', async () => {
    const notes = [
      [0, 10],
      [20, 30],
    ] as const

    expect(await averageOf(notes, {}, 4 * hourUs)).toEqual([20])
  })

  test('what is constant is exact, and large numbers are finite', async () => {
    const hours = Array.from({ length: 23 }, (_, index) => index + index / 77)

    expect(await averageOf(hours.map((hour) => [hour, 0.1]))).toEqual([0.1])
    const { MAX_VALUE } = Number
    expect(await averageOf(hours.map((hour) => [hour, MAX_VALUE]))).toEqual([MAX_VALUE])
  })

  test('where no time has passed each reading counts once', async () => {
    const timeWeights = { holdsUs: new Map([['boiler', hourUs]]), untilUs: marchUs }
    const notes = [
      [0, 10],
      [1, 20],
    ] as const

    expect(await averageOf(notes, { timeWeights })).toEqual([15])
  })
}
