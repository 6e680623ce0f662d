import { bucketRuns } from '../../bucket-runs.ts'
import type { Column, ColumnType } from '../../time-series-store.ts'
import { type Catalog, quoted, type ReadingsTable, startOfMonthUs } from '../catalog.ts'
import { bucketSql } from './bucket.ts'
import { aggregateSql, isOrdered } from './functions.ts'
import { isReadableAs, type Selection } from './selection.ts'

/** A stretch of time that one statement reads, and the tables that it lies in: at least one. */
export interface Chunk {
  readonly fromUs: number
  readonly toUs: number
  readonly tables: readonly ReadingsTable[]
}

/**
 * SQL of the points of a chunk, in no order: `$series`, `$bucket`, `$count`, and a column for each
 * field, named by its index: `$0`, `$1`, ...
 */
export function pointsSql(catalog: Catalog, selection: Selection, chunk: Chunk): string {
  const { fields, columns, streams } = selection
  const values = fields.map((field, index) => {
    const column = columns.findIndex(({ name }) => name === field.name)
    return `, ${aggregateSql(field, columnName(column))} AS "$${index}"`
  })
  const rows = chunk.tables
    .map((table) => rowsOfTable(catalog, selection, { ...chunk, tables: [table] }))
    .join('\nUNION ALL ')
  const isOneSeries = new Set(streams.map(({ series }) => series)).size === 1
  const series = isOneSeries ? `${streams[0]?.series}` : '"$series"'
  const groups = isOneSeries ? '"$bucket"' : '"$bucket", "$series"'
  const join = streams.length === 1 ? '' : seriesJoin(selection)
  return `SELECT ${series} AS "$series", "$bucket", count(*) AS "$count"${values.join('')}
    FROM (${rows}) r ${join} GROUP BY ${groups}`
}

/** The selected streams, of which a table has others, too. */
function seriesJoin({ streams }: Selection): string {
  const pairs = streams.map(({ key, series }) => `(${key}, ${series})`)
  return `JOIN (VALUES ${pairs.join(', ')}) s("$stream", "$series") ON s."$stream" = r."streamId"`
}

function rowsOfTable(catalog: Catalog, selection: Selection, chunk: Chunk): string {
  const { query, fields, columns, streams } = selection
  const table = chunk.tables[0] as ReadingsTable
  const fromUs = Math.max(chunk.fromUs, startOfMonthUs(table.month))
  const toUs = Math.min(chunk.toUs, startOfMonthUs(table.month + 1))
  const runs = bucketRuns(query.buckets, fromUs, toUs)
  const stored = catalog.shapes.get(table.shape)?.columns ?? []
  const list = [
    `${bucketSql(runs, 'epoch_us("timestamp")')} AS "$bucket"`,
    ...(streams.length === 1 ? [] : ['"streamId"']),
    ...(fields.some((field) => isOrdered(field.function)) ? ['"timestamp"', '"$digest"'] : []),
    ...columns.map((column, index) => `${valueSql(column, stored)} AS ${columnName(index)}`),
  ]
  const keys = streams.map(({ key }) => key)
  const [first = 0] = keys
  const isSelected =
    keys.length === 1
      ? `"streamId" = ${first}`
      : `"streamId" BETWEEN ${keys.reduce((a, b) => Math.min(a, b), first)} AND ${keys.reduce((a, b) => Math.max(a, b), first)}`
  return `SELECT ${list.join(', ')} FROM ${quoted(table.name)} WHERE ${isSelected}
    AND "timestamp" >= make_timestamp(${chunk.fromUs}::BIGINT)
    AND "timestamp" < make_timestamp(${chunk.toUs}::BIGINT)`
}

/** What a table has of a column. Tables of other shapes may lack it, or have something else there. */
function valueSql({ name, type }: Column, stored: readonly Column[]): string {
  const found = stored.find((column) => column.name === name)
  if (!found || !isReadableAs(found.type, type)) return `NULL::${sqlTypes[type]}`
  if (type === 'timestamp') return `epoch_us(${quoted(name)})`
  return found.type === type ? quoted(name) : `${quoted(name)}::${sqlTypes[type]}`
}

/** Types of values while they are aggregated: instants are microseconds. */
const sqlTypes: Readonly<Record<ColumnType, string>> = {
  double: 'DOUBLE',
  bigint: 'BIGINT',
  boolean: 'BOOLEAN',
  varchar: 'VARCHAR',
  timestamp: 'BIGINT',
  json: 'VARCHAR',
}

/** By index: names of different shapes may differ in case only, which is no difference here. */
function columnName(index: number): string {
  return `"$column${index}"`
}
