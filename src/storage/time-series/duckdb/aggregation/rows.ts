import type { Range } from '../../aggregation/point-reader.ts'
import { isOrdered, isReadableAs } from '../../aggregation/united-fields.ts'
import { bucketRuns } from '../../bucket-runs.ts'
import type { Column, ColumnType } from '../../shape.ts'
import { type Catalog, quoted, type ReadingsTable } from '../catalog.ts'
import { type GivenColumn, givenList, givenRows } from '../given-rows.ts'
import { startOfMonthUs } from '../months.ts'
import { bucketEndSql, bucketSql } from './bucket.ts'
import { aggregateSql, type Summation, weightedAverageSql } from './functions.ts'
import type { SelectedColumn, Selection } from './selection.ts'
import { splitJoin } from './split-join.ts'
import { carriedName, timeWeightsSql } from './time-weights.ts'

/** Places of a list that tells the series of streams, at most. */
const listedMax = 1_024

export interface PointsRange extends Range {
  readonly summation: Summation
}

/**
 * SQL of the points of a range that touches a table, in no order: `$series`, `$bucket`, `$count`, and a column for each
 * field, named by its index: `$0`, `$1`, ...
 */
export function pointsSql(
  catalog: Catalog,
  selection: Selection,
  { summation, ...chunk }: PointsRange,
): string {
  const { fields, columns, streams, holdUsMax, split } = selection
  const isByTime = holdUsMax > 0
  const values = fields.map((field, index) => {
    const column = columns.findIndex(({ name }) => name === field.name)
    const value =
      isByTime && field.function === 'avg'
        ? weightedAverageSql({
            column: columnName(column),
            weight: '"$weight"',
            carried: carriedName(column),
            carriedWeight: '"$carriedWeight"',
          })
        : aggregateSql(field, columnName(column), summation)
    return `, ${value} AS "$${index}"`
  })
  const isOneSeries = !split && new Set(streams.map(({ series }) => series)).size === 1
  const series = isOneSeries ? `${streams[0]?.series}` : '"$series"'
  const groups = isOneSeries ? '"$bucket"' : '"$bucket", "$series"'
  const rows = isByTime
    ? `(${rowsByTime(catalog, selection, chunk)})`
    : withSeries(rowsSql(catalog, selection, chunk), selection)
  return `SELECT ${series} AS "$series", "$bucket", count(*) AS "$count"${values.join('')}
    FROM ${rows} GROUP BY ${groups}`
}

/** The rows of a chunk with their weights, for which those before it are needed, too. */
function rowsByTime(catalog: Catalog, selection: Selection, chunk: Range): string {
  const { columns, holdUsMax } = selection
  const beforeUs = Math.max(0, chunk.fromUs - holdUsMax)
  const before = rowsSql(catalog, selection, { fromUs: beforeUs, toUs: chunk.fromUs })
  return timeWeightsSql({
    rows: rowsSql(catalog, selection, chunk),
    before: before === '' ? undefined : before,
    join: seriesJoin(selection),
    columns: columns.map((_, index) => columnName(index)),
    query: selection.query,
    fromUs: chunk.fromUs,
  })
}

/** Keeps the rows of the selected streams, each with its series. */
function withSeries(rows: string, selection: Selection): string {
  if (selection.split) return `(${rows}) r ${seriesJoin(selection)}`
  if (selection.streams.length === 1) return `(${rows}) r`
  const series = seriesByKey(selection)
  if (series === undefined) return `(${rows}) r ${seriesJoin(selection)}`
  return `(SELECT *, ${series} AS "$series" FROM (${rows})) r WHERE "$series" IS NOT NULL`
}

/**
 * The series of a row, looked up in a list by the number of its stream: for some thousand rows a join takes longer
 * to be planned than to be done. Nothing where the numbers are far apart.
 */
function seriesByKey({ streams }: Selection): string | undefined {
  const keys = streams.map(({ key }) => key)
  const first = keys.reduce((left, right) => Math.min(left, right))
  const last = keys.reduce((left, right) => Math.max(left, right))
  if (last - first >= listedMax) return undefined
  const values = Array.from({ length: last - first + 1 }, (): number | undefined => undefined)
  for (const { key, series } of streams) values[key - first] = series
  return `(${givenList({ type: 'INTEGER', values })})["streamId" - ${first - 1}]`
}

/** Adds `$series` to rows named r. */
export function seriesJoin(selection: Selection): string {
  const { split } = selection
  return split ? `${streamsJoin(selection)} ${splitJoin(split)}` : streamsJoin(selection)
}

/** The selected streams, of which a table has others, too. Where there is only one, rows do not tell it. */
export function streamsJoin({ streams, holdUsMax, split }: Selection): string {
  if (split && streams.length === 1 && holdUsMax === 0) return ''
  const columns: Record<string, GivenColumn> = {
    $stream: { type: 'INTEGER', values: streams.map(({ key }) => key) },
  }
  if (!split) columns['$series'] = { type: 'INTEGER', values: streams.map(({ series }) => series) }
  const holds = streams.map(({ holdUs }) => holdUs)
  if (holdUsMax > 0) columns['$hold'] = { type: 'BIGINT', values: holds }
  return `JOIN ${givenRows(columns)} s ON s."$stream" = r."streamId"`
}

interface RowsRange extends Range {
  /** Whether to tell the stream of each row where there is only one, too. */
  readonly withStream?: boolean
}

/** Empty when no table touches the range. */
export function rowsSql(
  catalog: Catalog,
  selection: Selection,
  { fromUs, toUs, withStream = false }: RowsRange,
): string {
  return selection.tables
    .map((table) => {
      const range = {
        fromUs: Math.max(fromUs, startOfMonthUs(table.month)),
        toUs: Math.min(toUs, startOfMonthUs(table.month + 1)),
      }
      if (range.fromUs >= range.toUs) return ''
      return rowsOfTable(catalog, selection, { table, withStream, ...range })
    })
    .filter((sql) => sql !== '')
    .join('\nUNION ALL ')
}

function rowsOfTable(
  catalog: Catalog,
  selection: Selection,
  { table, fromUs, toUs, withStream }: RowsRange & { readonly table: ReadingsTable },
): string {
  const { query, fields, columns, streams, holdUsMax, split } = selection
  const runs = bucketRuns(query.buckets, fromUs, toUs)
  const stored = catalog.shapes.get(table.shape)?.columns ?? []
  const isByTime = holdUsMax > 0
  const isInOrder = isByTime || fields.some((field) => isOrdered(field.function))
  const instant = 'epoch_us("timestamp")'
  const list = [
    `${bucketSql(runs, instant)} AS "$bucket"`,
    ...(isByTime ? [`${bucketEndSql(runs, instant)} AS "$bucketEnd"`] : []),
    ...(streams.length === 1 && !isByTime && !withStream ? [] : ['"streamId"']),
    ...(split ? [`${valueSql(split.field, stored)} AS "$split"`] : []),
    ...(isInOrder ? ['"timestamp"', '"$digest"'] : []),
    ...columns.map((column, index) => `${valueSql(column, stored)} AS ${columnName(index)}`),
  ]
  const keys = streams.map(({ key }) => key)
  const [first = 0] = keys
  const isSelected =
    keys.length === 1
      ? `"streamId" = ${first}`
      : `"streamId" BETWEEN ${keys.reduce((a, b) => Math.min(a, b), first)} AND ${keys.reduce((a, b) => Math.max(a, b), first)}`
  return `SELECT ${list.join(', ')} FROM ${quoted(table.name)} WHERE ${isSelected}
    AND "timestamp" >= make_timestamp(${fromUs}::BIGINT)
    AND "timestamp" < make_timestamp(${toUs}::BIGINT)`
}

/** What a table has of a column. Tables of other shapes may lack it, or have something else there. */
function valueSql({ name, type, measured }: SelectedColumn, stored: readonly Column[]): string {
  const found = stored.find((column) => column.name === name)
  if (!found || !isReadableAs(found.type, measured ?? type)) return `NULL::${sqlTypes[type]}`
  if (measured) return `strlen(${quoted(name)})`
  if (type === 'timestamp') return `epoch_us(${quoted(name)})`
  return found.type === type ? quoted(name) : `${quoted(name)}::${sqlTypes[type]}`
}

/** Types of values while they are aggregated: instants are microseconds. */
export const sqlTypes: Readonly<Record<ColumnType, string>> = {
  double: 'DOUBLE',
  bigint: 'BIGINT',
  boolean: 'BOOLEAN',
  varchar: 'VARCHAR',
  timestamp: 'BIGINT',
  json: 'VARCHAR',
}

/** By index: names of different shapes may differ in case only, which is no difference here. */
export function columnName(index: number): string {
  return `"$column${index}"`
}
