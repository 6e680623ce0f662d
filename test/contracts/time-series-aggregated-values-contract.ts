import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { ShippedReading } from '../../src/storage/time-series/shipment.ts'
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

/** What every store promises about the values that it aggregates: a part of `timeSeriesContract`. */
export function timeSeriesAggregatedValuesContract(open: OpenNewStore): void {
  describe('of a stream whose definition was changed', () => changedContract(open))
  describe('of extreme values', () => extremesContract(open))
}

function changedContract(open: OpenNewStore): void {
  const shapes = {
    integer: shapeOf({ value: { type: 'integer' } }),
    number: shapeOf({ value: { type: 'number' } }),
    string: shapeOf({ value: { type: 'string' }, other: { type: 'number' } }),
    without: shapeOf({ Value: { type: 'number' } }),
  } as const
  const samples = { integer: 3, number: 0.5, string: 'off', without: undefined }
  const changed = fc.array(
    fc.record({
      kind: fc.constantFrom('integer', 'number', 'string', 'without'),
      timestampUs: fc.nat(3).map((half) => marchUs + (half - 2) * hourUs * 12),
    }),
    { maxLength: 20 },
  )

  test.each([
    ['bigint', ofNumbers],
    ['double', ofNumbers],
    ['varchar', ofAnything],
  ] as const)('brings together what was stored, now as %s', async (type, functions) => {
    await withStreams(open, async ({ store }, newStream) => {
      await fc.assert(
        fc.asyncProperty(changed, async (notes) => {
          const streamId = newStream()
          const readings = notes.map(({ kind, timestampUs }): ShippedReading => {
            const value = samples[kind]
            const own = value === undefined ? {} : { value }
            return storedReading({ streamId, timestampUs, shape: shapes[kind], values: own })
          })
          await ship(store, readings)
          const series = [{ key: streamId, streamIds: [streamId] }]
          const query = { ...dailyAverages, series, fields: fieldsOf('value', type, functions) }

          const points = await allAggregates(store, query)

          expect(points).toEqual(modelAggregates(readings, query).map(nearly))
        }),
        { numRuns: 30 },
      )
    })
  })
}

function extremesContract(open: OpenNewStore): void {
  const extremes = async (...numbers: readonly number[]) => {
    await using opened = await open()
    await ship(
      opened.store,
      numbers.map((temperature) => storedReading({ values: { temperature } })),
    )
    const fields = fieldsOf('temperature', 'double', ofNumbers)
    const [point] = await allAggregates(opened.store, { fields })
    return point?.values
  }

  test('is finite where a double can hold it, and else left out', async () => {
    const max = Number.MAX_VALUE

    const sameValues = await extremes(max, max)
    expect(sameValues).toMatchObject({ 'temperature:avg': max, 'temperature:stddev': 0 })
    expect(sameValues).toMatchObject({ 'temperature:p50': max, 'temperature:p99': max })
    expect(sameValues).not.toHaveProperty('temperature:sum')
    const opposite = await extremes(max, -max)
    expect(opposite).toMatchObject({ 'temperature:avg': 0, 'temperature:sum': 0 })
    expect(opposite).toMatchObject({ 'temperature:p50': 0 })
    expect(opposite).not.toHaveProperty('temperature:stddev')
    const large = await extremes(1e200, -1e200)
    expect(Number(large?.['temperature:stddev']) / 1e200).toBeCloseTo(Math.SQRT2, 12)
  })

  test('loses no small number beside a large one', async () => {
    const sums = await extremes(1e15, ...Array.from({ length: 10 }, () => 0.1), -1e15)

    expect(sums?.['temperature:sum']).toBeCloseTo(1, 9)
  })

  test('of large whole numbers is exact', async () => {
    await using opened = await open()
    const starts = [2 ** 53 - 1, 2 ** 53 - 1, 1, 1]
    const whole = shapeOf({ starts: { type: 'integer' } })
    await ship(
      opened.store,
      starts.map((one) => storedReading({ shape: whole, values: { starts: one } })),
    )
    const fields = fieldsOf('starts', 'bigint', ['sum', 'min', 'max'])

    expect((await allAggregates(opened.store, { fields }))[0]?.values).toEqual({
      'starts:sum': 2 ** 54,
      'starts:min': 1,
      'starts:max': 2 ** 53 - 1,
    })
  })
}
