import type { ReadingsCursor, ReadingsPage, ReadingsQuery } from './readings-query.ts'

/** A page of a stream's readings in ascending time, column by column: for who goes over very many. */
export interface SeriesQuery {
  readonly streamId: string
  /** [startUs, endUs): half open. */
  readonly startUs: number
  readonly endUs: number
  /** None is needed where only the times matter. */
  readonly fields: readonly string[]
  readonly limit: number
  readonly after: ReadingsCursor | undefined
}

/** Values of one field, one for each reading. */
export type SeriesColumn =
  /** NaN where a reading has none: no reading has that as a value. Of `boolean` 1 is true. */
  | { readonly type: 'number' | 'boolean'; readonly values: Float64Array<ArrayBuffer> }
  | { readonly type: 'any'; readonly values: readonly unknown[] }

export interface SeriesPage {
  /** Microseconds since the epoch. */
  readonly timesUs: Float64Array<ArrayBuffer>
  /** In the order of the fields. */
  readonly columns: readonly SeriesColumn[]
  readonly next: ReadingsCursor | undefined
}

/** What can be read column by column; where it cannot, readings have to be read one by one. */
export interface SeriesStore {
  /** Undefined where the fields are no numbers. @throws DomainError `overloaded`, `query_too_slow` */
  series?(query: SeriesQuery): Promise<SeriesPage | undefined>

  query(query: ReadingsQuery): Promise<ReadingsPage>
}

/** A page of readings that are read one by one. */
const pointsMax = 5_000
const bytesMax = 1024 * 1024

/** @throws DomainError `overloaded`, `query_too_slow` */
export async function readSeries(store: SeriesStore, query: SeriesQuery): Promise<SeriesPage> {
  const page = await store.series?.(query)
  if (page !== undefined) return page
  const limit = Math.min(query.limit, pointsMax)
  const { points, next } = await store.query({ ...query, limit, bytesMax })
  return {
    timesUs: Float64Array.from(points, ({ timestampUs }) => timestampUs),
    columns: query.fields.map((field) => ({
      type: 'any',
      values: points.map(({ values }) =>
        Object.hasOwn(values, field) ? values[field] : undefined,
      ),
    })),
    next,
  }
}

/** What stands in a column; nothing where a reading has no value. */
export function valueAt({ type, values }: SeriesColumn, row: number): unknown {
  const value = values[row] ?? undefined
  if (type === 'any') return value
  if (Number.isNaN(value)) return undefined
  return type === 'boolean' ? value === 1 : value
}

/** The memory of a page, which goes over to another thread. */
export function memoryOf({ timesUs, columns }: SeriesPage): readonly ArrayBuffer[] {
  const numbers = columns.flatMap(({ type, values }) => (type === 'any' ? [] : [values.buffer]))
  return [timesUs.buffer, ...numbers]
}
