import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type {
  AggregateQuery,
  Buckets,
  Fill,
} from '../../src/storage/time-series/aggregate-query.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import {
  type SplitField,
  splitKeyOf,
  splitTextBytesMax,
  splitValueOf,
  splitValuesMax,
} from '../../src/storage/time-series/split-series.ts'
import { modelAggregates } from '../support/aggregation-model.ts'
import { dailyAverages, fieldsOf, nearly, ofNumbers } from '../support/aggregation-samples.ts'
import { allAggregates, hourUs, marchUs, ship, storedReading } from '../support/stored-readings.ts'
import { type OpenNewStore, withStreams } from './open-store.ts'

/**
 * What every store promises about series that the values of a field make: a part of `timeSeriesContract`.
 *
 * @param share the part of the random cases that is tried
 */
export function timeSeriesSplitContract(open: OpenNewStore, share = 1): void {
  describe('equals an independent computation', () => modelContract(open, share))
  describe('of values', () => valuesContract(open))
  describe('has limits', () => limitsContract(open))
}

const shapes = {
  first: shapeOf({
    temperature: { type: 'number' },
    mode: { type: 'string' },
    isOn: { type: 'boolean' },
    level: { type: 'integer' },
  }),
  /** Where the field was something else, or was not. */
  second: shapeOf({ temperature: { type: 'integer' }, level: { type: 'number' } }),
} as const

const values = fc.record(
  {
    temperature: fc.integer({ min: -50, max: 50 }),
    mode: fc.constantFrom('', 'heat', 'Heat', "o'f\nf", '\u{1f525}', '￥', '=', 'null'),
    isOn: fc.boolean(),
    level: fc.constantFrom(-10, -9, 0, 9, 10, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
  },
  { requiredKeys: [] },
)

const time = fc.integer({ min: -80, max: 80 }).map((half) => marchUs + (half * hourUs) / 2)

const splitField = fc.constantFrom<SplitField>(
  { name: 'mode', type: 'varchar' },
  { name: 'isOn', type: 'boolean' },
  { name: 'level', type: 'bigint' },
)

const question = fc.record({
  streams: fc.array(
    fc.record({
      holdUs: fc.constantFrom(undefined, hourUs, 7 * hourUs, 40 * 24 * hourUs),
      readings: fc.array(
        fc.record({ timestampUs: time, values, kind: fc.constantFrom('first', 'second') }),
        { maxLength: 15 },
      ),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  splitBy: splitField,
  times: fc.tuple(time, time).map((both) => both.toSorted((one, two) => one - two)),
  buckets: fc.constantFrom<Buckets>(
    { kind: 'calendar', unit: 'day', units: 1, zone: 'Europe/Berlin' },
    { kind: 'calendar', unit: 'month', units: 1, zone: 'UTC' },
    { kind: 'fixed', widthUs: 6 * hourUs },
  ),
  fill: fc.constantFrom<Fill>('none', 'none', 'null', 'previous', 'linear'),
  limit: fc.integer({ min: 1, max: 9 }),
  bytesMax: fc.constantFrom(1, 1_300, 1_000_000),
  isByTime: fc.boolean(),
})

const fields = [
  ...fieldsOf('temperature', 'double', ofNumbers),
  ...fieldsOf('mode', 'varchar', ['count', 'first', 'latest']),
  ...fieldsOf('level', 'double', ['count']),
]

function modelContract(open: OpenNewStore, share: number): void {
  test('over any streams, field, range, bucket and page, in both orders', async () => {
    await withStreams(open, async ({ store }, newStream) => {
      await fc.assert(
        fc.asyncProperty(question, async ({ streams, times, isByTime, ...rest }) => {
          const named = streams.map((one) => ({ ...one, streamId: newStream() }))
          const readings = named.flatMap(({ streamId, readings: notes }) =>
            notes.map(({ kind, values: all, ...one }) => {
              const { temperature, level } = all
              const second = {
                ...(temperature !== undefined && { temperature }),
                ...(level !== undefined && { level }),
              }
              const own = kind === 'first' ? all : second
              return storedReading({ ...one, values: own, streamId, shape: shapes[kind] })
            }),
          )
          await ship(store, readings)
          const [startUs = 0, endUs = 0] = times
          const holds = named.flatMap(({ streamId, holdUs }) =>
            holdUs === undefined ? [] : [[streamId, holdUs] as const],
          )
          const query: AggregateQuery = {
            ...rest,
            series: [{ key: '', streamIds: named.map(({ streamId }) => streamId) }],
            startUs,
            endUs,
            fields,
            ...(isByTime && { timeWeights: { holdsUs: new Map(holds), untilUs: endUs - hourUs } }),
            after: undefined,
          }
          const expected = modelAggregates(readings, query).map(nearly)

          expect(await allAggregates(store, query)).toEqual(expected)
          expect(await allAggregates(store, { ...query, order: 'desc' })).toEqual(
            expected.toReversed(),
          )
        }),
        { numRuns: 150 * share },
      )
    })
  })
}

const byMode: SplitField = { name: 'mode', type: 'varchar' }

function valuesContract(open: OpenNewStore): void {
  const keysOf = async (field: SplitField, stored: readonly unknown[]) => {
    await using opened = await open()
    await ship(
      opened.store,
      stored.map((value) =>
        storedReading({
          shape: shapes.first,
          values: value === null ? {} : { [field.name]: value },
        }),
      ),
    )
    const points = await allAggregates(opened.store, { ...dailyAverages, splitBy: field })
    return points.map(({ series, count }) => [splitValueOf(series, field.type), count])
  }

  test('whole numbers come in their order, behind what has none', async () => {
    const field: SplitField = { name: 'level', type: 'bigint' }

    expect(await keysOf(field, [10, 9, null, -1, 10, -20, null])).toEqual([
      [null, 2],
      [-20, 1],
      [-1, 1],
      [9, 1],
      [10, 2],
    ])
  })

  test('an empty text is a value, and cases differ', async () => {
    expect(await keysOf(byMode, ['on', '', 'On', null, "'; --"])).toEqual([
      [null, 1],
      ['', 1],
      ["'; --", 1],
      ['On', 1],
      ['on', 1],
    ])
  })

  test('true and false are values', async () => {
    const field: SplitField = { name: 'isOn', type: 'boolean' }

    expect(await keysOf(field, [true, null, false, true])).toEqual([
      [null, 1],
      [false, 1],
      [true, 2],
    ])
  })

  test('only those of the range make series, also where gaps are filled', async () => {
    await using opened = await open()
    const { first: shape } = shapes
    await ship(opened.store, [
      storedReading({ shape, values: { mode: 'before' }, timestampUs: marchUs - 1 }),
      storedReading({ shape, values: { mode: 'in' } }),
      storedReading({ shape, values: { mode: 'behind' }, timestampUs: marchUs + 48 * hourUs }),
    ])
    const range = { startUs: marchUs, endUs: marchUs + 48 * hourUs }
    const query = { ...dailyAverages, ...range, splitBy: byMode, fill: 'null' as const }

    expect((await allAggregates(opened.store, query)).map(({ series }) => series)).toEqual([
      splitKeyOf('in', 'varchar'),
      splitKeyOf('in', 'varchar'),
    ])
  })

  test('of streams that nothing was stored of, there is none', async () => {
    await using opened = await open()
    const query = { ...dailyAverages, splitBy: byMode, fill: 'null' as const, endUs: marchUs }

    expect(await allAggregates(opened.store, query)).toEqual([])
    expect(await allAggregates(opened.store, { ...query, series: [] })).toEqual([])
  })

  test.each([
    ['of the same value counts', 'on', [10, 35]],
    ['of another value does not count', 'off', [10, 30, 50]],
  ])('by time, what was in force when the bucket began and is %s', async (_, mode, expected) => {
    await using opened = await open()
    const { first: shape } = shapes
    await ship(opened.store, [
      storedReading({
        shape,
        values: { mode: 'on', temperature: 10 },
        timestampUs: marchUs - hourUs,
      }),
      storedReading({
        shape,
        values: { mode, temperature: 30 },
        timestampUs: marchUs + 6 * hourUs,
      }),
      storedReading({
        shape,
        values: { mode: 'on', temperature: 50 },
        timestampUs: marchUs + 12 * hourUs,
      }),
    ])
    const timeWeights = {
      holdsUs: new Map([['boiler', 24 * hourUs]]),
      untilUs: Number.MAX_SAFE_INTEGER,
    }
    const query = { ...dailyAverages, timeWeights, splitBy: byMode }

    const points = await allAggregates(opened.store, query)

    expect(points.map(({ values: { temperature } }) => temperature)).toEqual(expected)
  })

  test('goes on behind the cursor when values come', async () => {
    await using opened = await open()
    const { first: shape } = shapes
    const send = async (mode: string) =>
      await ship(opened.store, [storedReading({ shape, values: { mode } })])
    for (const mode of ['b', 'd']) await send(mode)
    const after = { timestampUs: marchUs, series: splitKeyOf('b', 'varchar') }
    for (const mode of ['a', 'c']) await send(mode)
    const query = { ...dailyAverages, series: [{ key: '', streamIds: ['boiler'] }] }

    const page = await opened.store.aggregate({ ...query, splitBy: byMode, after })

    expect(page.points.map(({ series }) => splitValueOf(series, 'varchar'))).toEqual(['c', 'd'])
  })
}

function limitsContract(open: OpenNewStore): void {
  const splitInto = async (modes: readonly string[]) => {
    await using opened = await open()
    const readings = modes.map((mode, index) =>
      storedReading({
        streamId: `stream-${index % 400}`,
        shape: shapes.first,
        values: { mode, temperature: index },
        timestampUs: marchUs + index,
      }),
    )
    await ship(opened.store, readings)
    const streamIds = [...new Set(readings.map(({ streamId }) => streamId))]
    const query = { ...dailyAverages, series: [{ key: '', streamIds }], splitBy: byMode }
    return await allAggregates(opened.store, query)
  }

  test('so many values are series, of any number of streams', async () => {
    const modes = Array.from({ length: splitValuesMax }, (_, index) => `mode ${index}`)

    const points = await splitInto(modes)

    expect(points).toHaveLength(splitValuesMax)
    expect(new Set(points.map(({ values: { temperature } }) => temperature))).toEqual(
      new Set(modes.keys()),
    )
  })

  test('one value more is refused', async () => {
    const modes = Array.from({ length: splitValuesMax + 1 }, (_, index) => `mode ${index}`)

    await expect(splitInto(modes)).rejects.toMatchObject({
      code: 'too_many_points',
      details: [{ path: 'groupBy', message: expect.stringContaining("'mode'") as string }],
    })
  })

  test('a text that is too long is refused, and one of just that length is not', async () => {
    const longest = 'ä'.repeat(splitTextBytesMax / 2)

    expect(await splitInto([longest])).toHaveLength(1)
    await expect(splitInto(['on', `${longest}x`])).rejects.toMatchObject({
      code: 'unsupported_query',
      details: [{ path: 'groupBy' }],
    })
  })
}
