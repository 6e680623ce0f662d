import { expect } from 'vitest'
import type {
  AggregatedField,
  AggregateFunction,
  AggregatePoint,
  AggregateQuery,
} from '../../src/storage/time-series/aggregate-query.ts'
import type { ColumnType } from '../../src/storage/time-series/shape.ts'

export const ofNumbers: readonly AggregateFunction[] = [
  'avg',
  'min',
  'max',
  'sum',
  'count',
  'first',
  'latest',
  'stddev',
  'p50',
  'p95',
  'p99',
]
export const ofAnything: readonly AggregateFunction[] = ['count', 'first', 'latest']

/** A field under each of these functions. */
export function fieldsOf(
  name: string,
  type: ColumnType,
  functions: readonly AggregateFunction[],
): AggregatedField[] {
  return functions.map((one) => ({ key: `${name}:${one}`, name, type, function: one }))
}

/** A question for the daily averages of some streams. */
export const dailyAverages: Omit<AggregateQuery, 'series'> = {
  startUs: 0,
  endUs: Number.MAX_SAFE_INTEGER,
  buckets: { kind: 'calendar', unit: 'day', units: 1, zone: 'UTC' },
  fields: [{ key: 'temperature', name: 'temperature', type: 'double', function: 'avg' }],
  fill: 'none',
  limit: 1_000,
  after: undefined,
}

/** Doubles that may differ in their last digits. */
export function nearly(point: AggregatePoint): AggregatePoint {
  const inexact = /:(avg|sum|stddev|p\d\d|first|latest|min|max)$/
  const entries = Object.entries(point.values).map(([key, value]) => {
    const isClose = typeof value === 'number' && inexact.test(key)
    return [key, isClose ? expect.closeTo(value, 4) : value]
  })
  return { ...point, values: Object.fromEntries(entries) as AggregatePoint['values'] }
}
