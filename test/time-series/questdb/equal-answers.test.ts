import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type {
  AggregatePoint,
  AggregateQuery,
  Buckets,
} from '../../../src/storage/time-series/aggregate-query.ts'
import type {
  LatestReading,
  ReadingsQuery,
} from '../../../src/storage/time-series/readings-query.ts'
import { shapeOf } from '../../../src/storage/time-series/shape.ts'
import type { ShippedReading } from '../../../src/storage/time-series/shipment.ts'
import type { SplitField } from '../../../src/storage/time-series/split-series.ts'
import type { TimeSeriesStore } from '../../../src/storage/time-series/time-series-store.ts'
import type { OpenStore } from '../../contracts/open-store.ts'
import { fieldsOf, ofAnything, ofNumbers } from '../../support/aggregation-samples.ts'
import { openDuckDbStore } from '../../support/duckdb-store.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { openQuestDbStore } from '../../support/questdb-store.ts'
import {
  allAggregates,
  allPoints,
  hourUs,
  marchUs,
  remove,
  ship,
  storedReading,
} from '../../support/stored-readings.ts'

const shapes = {
  first: shapeOf({
    level: { type: 'integer' },
    mode: { type: 'string' },
    isOn: { type: 'boolean' },
  }),
  second: shapeOf({
    level: { type: 'number' },
    at: { type: 'datetime' },
    place: { type: 'object' },
  }),
} as const

/** Few different times, so that streams have several readings at one. */
const time = fc.integer({ min: -60, max: 60 }).map((half) => marchUs + (half * hourUs) / 2)

/** Quarters, whose sums are exact in whichever order they are made. */
const quarter = fc.integer({ min: -400, max: 400 }).map((number) => number / 4)

const valuesOf = {
  first: fc.record(
    { level: fc.integer(), mode: fc.constantFrom('', 'heat', "o'f\nf"), isOn: fc.boolean() },
    { requiredKeys: [] },
  ),
  second: fc.record(
    {
      level: quarter,
      at: fc.constantFrom('1969-07-20T20:17:40.000001Z', '2026-01-02T00:00:00.000000Z'),
      place: fc.record({ x: fc.integer() }),
    },
    { requiredKeys: [] },
  ),
} as const

const reading = fc
  .constantFrom('first' as const, 'second' as const)
  .chain((kind) =>
    fc.record({ kind: fc.constant(kind), timestampUs: time, values: valuesOf[kind] }),
  )

const range = fc.tuple(time, time).map(([one, two]) => ({
  startUs: Math.min(one, two),
  endUs: Math.max(one, two),
}))

/** What happens to streams, by their places in a list. */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.array(fc.tuple(fc.nat(2), reading), { maxLength: 15 }) },
  { weight: 1, arbitrary: fc.record({ stream: fc.nat(2), range }) },
)

const zone = 'Europe/Berlin'
const buckets = fc.constantFrom<Buckets>(
  { kind: 'fixed', widthUs: 7 * hourUs },
  { kind: 'calendar', unit: 'day', units: 1, zone },
  { kind: 'calendar', unit: 'month', units: 1, zone },
)

const question = fc.record({
  range,
  buckets,
  limit: fc.integer({ min: 5, max: 20 }),
  bytesMax: fc.integer({ min: 1, max: 900 }),
  fill: fc.constantFrom('none' as const, 'null' as const, 'previous' as const, 'linear' as const),
  fields: fc.constantFrom([], ['level'], ['mode', 'place']),
  isOneSeries: fc.boolean(),
  splitBy: fc.constantFrom<SplitField | undefined>(
    undefined,
    { name: 'mode', type: 'varchar' },
    { name: 'isOn', type: 'boolean' },
    { name: 'level', type: 'bigint' },
  ),
  holdUs: fc.constantFrom(undefined, hourUs, 30 * hourUs),
})

const everyFunction = [
  ...fieldsOf('level', 'double', ofNumbers),
  ...fieldsOf('mode', 'varchar', ofAnything),
  ...fieldsOf('isOn', 'boolean', ofAnything),
  ...fieldsOf('at', 'timestamp', [...ofAnything, 'min', 'max']),
  ...fieldsOf('place', 'json', ofAnything),
]

describe.skipIf(isQuestDbMissing)('QuestDB answers as DuckDB does', () => {
  let questDb: QuestDb
  let both: readonly OpenStore[] = []

  beforeAll(async () => {
    questDb = await QuestDb.start()
    both = [await openDuckDbStore(), await openQuestDbStore(questDb)]
  })

  afterAll(async () => {
    for (const opened of both) await opened[Symbol.asyncDispose]()
    await questDb[Symbol.asyncDispose]()
  })

  test('to any question, after any readings and removals', async () => {
    let streams = 0
    const questions = fc.array(question, { minLength: 1, maxLength: 2 })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 4 }), questions, async (steps, asked) => {
        const ids = [1, 2, 3].map(() => `stream-${++streams}`)
        for (const one of steps) await take(one, ids, both)

        for (const one of asked) {
          const [expected, found] = await Promise.all(both.map(({ store }) => ask(store, ids, one)))
          expect(found).toEqual({ ...expected, aggregates: expected?.aggregates.map(nearly) })
        }
      }),
      { numRuns: 25 },
    )
  })
})

type Step = typeof step extends fc.Arbitrary<infer Type> ? Type : never
type Question = typeof question extends fc.Arbitrary<infer Type> ? Type : never

/** Takes one step, readings or a removal, in all stores. */
async function take(
  one: Step,
  ids: readonly string[],
  stores: readonly OpenStore[],
): Promise<void> {
  const idOf = (stream: number) => ids[stream] as string
  if (!Array.isArray(one)) {
    for (const { store } of stores)
      await remove(store, { streamId: idOf(one.stream), ...one.range })
    return
  }
  const readings = one.map(([stream, { kind, timestampUs, values }]): ShippedReading => {
    return storedReading({ streamId: idOf(stream), shape: shapes[kind], timestampUs, values })
  })
  for (const { store } of stores) await ship(store, readings)
}

/** All that a store says to a question. */
async function ask(store: TimeSeriesStore, ids: readonly string[], one: Question) {
  const { limit, bytesMax, fields, holdUs, splitBy } = one
  const [streamId = ''] = ids
  const query: Partial<ReadingsQuery> = { streamId, ...one.range, limit, bytesMax, fields }
  const after = await store.placeBeforeNewest(streamId, limit)
  const series =
    one.isOneSeries || splitBy
      ? [{ key: 'all', streamIds: ids }]
      : ids.map((key) => ({ key, streamIds: [key] }))
  const aggregate: Partial<AggregateQuery> = {
    ...one.range,
    series,
    splitBy,
    buckets: one.buckets,
    fill: one.fill,
    limit,
    fields: everyFunction,
    ...(holdUs && {
      timeWeights: { holdsUs: new Map([[streamId, holdUs]]), untilUs: marchUs + 20 * hourUs },
    }),
  }
  return {
    points: await allPoints(store, query),
    aggregates: await allAggregates(store, aggregate),
    latest: await allLatest(store, ids, bytesMax),
    after,
    newest: (await store.history({ streamId, after, limit })).points,
    fields: ids.map((id) => store.fieldsOf(id)),
  }
}

/** What is on one page depends on how a store tells the size of a reading. */
async function allLatest(store: TimeSeriesStore, ids: readonly string[], bytesMax: number) {
  const readings: LatestReading[] = []
  for (let left = ids; left.length > 0; ) {
    const page = await store.latest({ streamIds: left, bytesMax })
    expect(page.covered).toBeGreaterThan(0)
    readings.push(...page.readings)
    left = left.slice(page.covered)
  }
  return readings
}

/** Averages and deviations may differ in their last digits. */
function nearly({ values, ...point }: AggregatePoint) {
  const entries = Object.entries(values).map(([key, value]) => {
    const isRounded = typeof value === 'number' && /:(avg|stddev)$/.test(key)
    return [key, isRounded ? expect.closeTo(value, 6) : value]
  })
  return { ...point, values: Object.fromEntries(entries) as unknown }
}
