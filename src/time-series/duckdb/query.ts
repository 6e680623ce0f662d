import type { DuckDBConnection } from '@duckdb/node-api'
import type { Column, DataPoint, ReadingsPage, ReadingsQuery, Shape } from '../time-series-store.ts'
import { type Catalog, quoted, type ReadingsTable, rowsOf } from './catalog.ts'
import { valuesOf } from './point-values.ts'
import { readRaw } from './raw-readings.ts'

const hourUs = 3_600_000_000

/** A point with what orders it among others. */
interface OrderedPoint extends DataPoint {
  readonly digest: bigint
}

/** One page of a stream's readings, over all shapes that it has had. */
export async function queryReadings(
  connection: DuckDBConnection,
  catalog: Catalog,
  query: ReadingsQuery,
): Promise<ReadingsPage> {
  if (query.aggregation === 'raw') return await readRaw(connection, catalog, query)
  const stream = catalog.streams.get(query.streamId)
  if (!stream) return { points: [], next: undefined }
  const points: OrderedPoint[] = []
  for (const shapeId of stream.shapes) {
    const shape = catalog.shapes.get(shapeId)
    const tables = catalog.tablesOf(shapeId, query.startUs, query.endUs)
    if (!shape || tables.length === 0) continue
    const columns = chosenColumns(shape, query.fields)
    points.push(...(await readTables(connection, { tables, key: stream.key, columns }, query)))
  }
  const ordered = points.sort(inOrder)
  const page = ordered.slice(0, query.limit)
  const last = page.at(-1)
  const next =
    last && ordered.length > query.limit
      ? { timestampUs: last.timestampUs, digest: last.digest }
      : undefined
  return { points: page, next }
}

/** Tables of one query: a stream may have hundreds, and mostly the first few fill the page. */
const tablesPerQuery = 12

/** Reads table by table in the order of time, until there is more than a page. */
async function readTables(
  connection: DuckDBConnection,
  part: Part,
  query: ReadingsQuery,
): Promise<OrderedPoint[]> {
  const points: OrderedPoint[] = []
  for (let at = 0; at < part.tables.length && points.length <= query.limit; at += tablesPerQuery) {
    const tables = part.tables.slice(at, at + tablesPerQuery)
    points.push(...(await readHourly(connection, { ...part, tables }, query)))
  }
  return points
}

/** The rows of one stream in the tables of one shape. */
interface Part {
  readonly tables: readonly ReadingsTable[]
  readonly key: number
  readonly columns: readonly Column[]
}

function chosenColumns(shape: Shape, fields: readonly string[]): readonly Column[] {
  if (fields.length === 0) return shape.columns
  return shape.columns.filter(({ name }) => fields.includes(name))
}

function inOrder(left: OrderedPoint, right: OrderedPoint): number {
  if (left.timestampUs !== right.timestampUs) return left.timestampUs - right.timestampUs
  return left.digest < right.digest ? -1 : 1
}

function withinPage(key: number, { startUs, endUs, after }: ReadingsQuery): string {
  const from = after === undefined ? startUs : Math.max(startUs, after.timestampUs)
  const conditions = [
    `"streamId" = ${key}`,
    `"timestamp" >= make_timestamp(${from}::BIGINT)`,
    `"timestamp" < make_timestamp(${endUs}::BIGINT)`,
  ]
  if (after !== undefined && after.timestampUs >= startUs) {
    const time = `make_timestamp(${after.timestampUs}::BIGINT)`
    conditions.push(`("timestamp" > ${time} OR "$digest" > ${after.digest}::UBIGINT)`)
  }
  return conditions.join(' AND ')
}

/**
 * Numbers are averaged, everything else is the latest of the hour (D28). An hour is one point as
 * long as a stream keeps one shape, which holds until its definition can be changed.
 */
async function readHourly(
  connection: DuckDBConnection,
  { tables, key, columns }: Part,
  query: ReadingsQuery,
): Promise<OrderedPoint[]> {
  const aggregates = columns.map(({ name, type }) => {
    const column = quoted(name)
    if (isNumeric(type)) return `${average(column)} AS ${column}`
    const value = type === 'timestamp' ? `epoch_us(${column})` : column
    return `arg_max(${value}, ("timestamp", "$digest")) AS ${column}`
  })
  const names = columns.map(({ name }) => quoted(name))
  const own = ['"timestamp"', '"$digest"', ...names].join(', ')
  const { after: cursor, ...range } = query
  const startUs = cursor ? Math.max(range.startUs, cursor.timestampUs + hourUs) : range.startUs
  const where = withinPage(key, { ...range, startUs, after: undefined })
  const parts = tables.map(({ name }) => `SELECT ${own} FROM ${quoted(name)} WHERE ${where}`)
  const rows = await rowsOf(
    connection,
    `SELECT epoch_us("timestamp") // ${hourUs} * ${hourUs} AS "$time", count(*) AS "$count"
       ${aggregates.map((aggregate) => `, ${aggregate}`).join('')}
     FROM (${parts.join(' UNION ALL ')}) GROUP BY 1 ORDER BY 1 LIMIT ${query.limit + 1}`,
  )
  const averaged = columns.map(
    (column): Column => (isNumeric(column.type) ? { ...column, type: 'double' } : column),
  )
  return rows.map((row) => ({
    timestampUs: Number(row['$time']),
    digest: 0n,
    values: valuesOf(row, averaged),
    count: Number(row['$count']),
  }))
}

/**
 * The mean, by Kahan summation. Where the sum of finite numbers is not finite, all are scaled down by
 * a power of two first, which is exact.
 */
function average(column: string): string {
  return `CASE WHEN isfinite(favg(${column})) THEN favg(${column})
    ELSE favg(${column} * pow(2::DOUBLE, -40)) * pow(2::DOUBLE, 40) END`
}

function isNumeric(type: Column['type']): boolean {
  return type === 'double' || type === 'bigint'
}
