import type { DuckDBConnection } from '@duckdb/node-api'
import { inOrder, type OrderedPage, type OrderedPoint, type Outline, RawPage } from '../raw-page.ts'
import type { ReadingsPage, ReadingsQuery } from '../readings-query.ts'
import type { Column } from '../shape.ts'
import { type Catalog, quoted } from './catalog.ts'
import { startOfMonthUs } from './months.ts'
import { pointOf, readingList, readingSize } from './reading-rows.ts'
import { rowsOf } from './rows-of.ts'

/** Months that are read together, at most: a stream may have hundreds, and little in each. */
const monthsTogether = 12

/** A table that can hold readings of the page, and the columns that are asked for. */
export interface Source {
  readonly table: string
  readonly key: number
  readonly columns: readonly Column[]
  /** Whether what it holds may stand elsewhere, too. */
  readonly isLate?: boolean
  /** Its month. */
  readonly startUs: number
  readonly endUs: number
}

/** Tables of neighbouring months, and the time that they cover. */
interface Stretch {
  readonly sources: readonly Source[]
  readonly startUs: number
  readonly endUs: number
}

/** [startUs, endUs), without what stands at its start up to a digest. */
export interface Window {
  readonly startUs: number
  readonly endUs: number
  readonly afterDigest: bigint | undefined
}

/**
 * One page of a stream's readings as they are, in the order of (time, digest).
 *
 * A page ends at its limit of rows or of bytes, whichever comes first. So each stretch of time is
 * read twice: first the order and the sizes, which tell where the page ends, and then the readings up
 * to there; otherwise ten thousand readings with megabytes each would be in memory before anybody
 * could know. A stretch is about as long as the page before took (`spanUs`), because DuckDB finds out
 * from the time which blocks it can leave out, but not from a limit on rows: each page of a long
 * read would look at all that is still to come.
 */
export async function readRaw(
  connection: DuckDBConnection,
  catalog: Catalog,
  query: ReadingsQuery,
): Promise<ReadingsPage> {
  // Before the snapshot: what the catalog knows now will be there, and no table made later is asked.
  const sources = sourcesOf(catalog, query)
  await connection.run('BEGIN')
  return await readPage(connection, sources, query)
}

/** Within a transaction that sees all of the sources. */
export async function readPage(
  connection: DuckDBConnection,
  sources: readonly Source[],
  query: ReadingsQuery,
): Promise<OrderedPage> {
  const page = new RawPage(query)
  for (const stretch of stretchesOf(sources)) {
    const isFull = await readStretch(connection, stretch, page)
    if (isFull) break
  }
  return page.close()
}

/** Returns whether the page is full, and more follows. */
async function readStretch(
  connection: DuckDBConnection,
  stretch: Stretch,
  page: RawPage,
): Promise<boolean> {
  const { startUs, endUs, after } = page.query
  const hasCursor = after !== undefined && after.timestampUs >= startUs
  const firstUs = Math.max(stretch.startUs, startUs, hasCursor ? after.timestampUs : 0)
  const lastUs = Math.min(stretch.endUs, endUs)
  for (let atUs = firstUs; atUs < lastUs; ) {
    const window: Window = {
      startUs: atUs,
      endUs: Math.min(atUs + page.spanUs, lastUs),
      afterDigest: hasCursor && atUs === after.timestampUs ? after.digest : undefined,
    }
    const sources = stretch.sources.filter(
      (source) => source.startUs < window.endUs && source.endUs > window.startUs,
    )
    const found = await outlineOf(connection, { sources, window, rows: page.rowsWanted })
    const taken = page.roomFor(found)
    const last = found[taken - 1]
    if (last) page.add(await pointsOf(connection, { sources, window, last }, page.query))
    if (taken < found.length) {
      page.end()
      return true
    }
    page.widen(found.length)
    atUs = window.endUs
  }
  return false
}

/** Order and sizes of the first readings of a window. */
async function outlineOf(
  connection: DuckDBConnection,
  {
    sources,
    window,
    rows,
  }: { readonly sources: readonly Source[]; readonly window: Window; readonly rows: number },
): Promise<Outline[]> {
  // Between two months that have readings there may be one that has none.
  if (sources.length === 0) return []
  const parts = sources.map(({ table, key, columns }) => {
    return `SELECT "timestamp" AS t, "$digest" AS d, ${readingSize(columns)} AS b
      FROM ${quoted(table)} WHERE ${within(key, window)}`
  })
  const found = await rowsOf(
    connection,
    `SELECT epoch_us(t)::DOUBLE AS t, d, b::DOUBLE AS b FROM (${onceEach(sources, parts)}) AS found
     ORDER BY found.t, d LIMIT ${rows}`,
  )
  return found.map((row) => ({
    timestampUs: row['t'] as number,
    digest: row['d'] as bigint,
    bytes: row['b'] as number,
  }))
}

/** What parts of a statement find together: a reading that waits to be looked up may be among it twice. */
function onceEach(sources: readonly Source[], parts: readonly string[]): string {
  const all = parts.join(' UNION ALL ')
  if (!sources.some(({ isLate }) => isLate)) return all
  return `SELECT t, d, max(b) AS b FROM (${all}) GROUP BY t, d`
}

/** The readings of a window up to the last one that fits in. */
async function pointsOf(
  connection: DuckDBConnection,
  {
    sources,
    window,
    last,
  }: { readonly sources: readonly Source[]; readonly window: Window; readonly last: Outline },
  { fields }: ReadingsQuery,
): Promise<OrderedPoint[]> {
  const points: OrderedPoint[] = []
  const time = instant(last.timestampUs)
  const upToLast = `"timestamp" <= ${time} AND ("timestamp" < ${time} OR "$digest" <= ${last.digest}::UBIGINT)`
  for (const { table, key, columns } of sources) {
    const rows = await rowsOf(
      connection,
      `SELECT ${readingList(columns)} FROM ${quoted(table)}
       WHERE ${within(key, window)} AND ${upToLast}`,
    )
    for (const row of rows) points.push(pointOf(row, columns, fields.length === 0))
  }
  points.sort(inOrder)
  if (!sources.some(({ isLate }) => isLate)) return points
  return points.filter((point, at) => {
    const before = points[at - 1]
    return before === undefined || inOrder(before, point) !== 0
  })
}

export function within(key: number, { startUs, endUs, afterDigest }: Window): string {
  const start = instant(startUs)
  const conditions = [
    `"streamId" = ${key}`,
    `"timestamp" >= ${start}`,
    `"timestamp" < ${instant(endUs)}`,
  ]
  if (afterDigest !== undefined) {
    conditions.push(`("timestamp" > ${start} OR "$digest" > ${afterDigest}::UBIGINT)`)
  }
  return conditions.join(' AND ')
}

function instant(timestampUs: number): string {
  return `make_timestamp(${timestampUs}::BIGINT)`
}

/** Where the stream can have readings in the range, in the order of time. */
export function sourcesOf(catalog: Catalog, query: ReadingsQuery): Source[] {
  const stream = catalog.streams.get(query.streamId)
  if (!stream) return []
  const { startUs, endUs, fields, after } = query
  const firstUs = Math.max(startUs, after?.timestampUs ?? 0)
  const sources: Source[] = []
  for (const shapeId of stream.shapes) {
    const all = catalog.shapes.get(shapeId)?.columns ?? []
    const columns = fields.length === 0 ? all : all.filter(({ name }) => fields.includes(name))
    for (const { name: table, month } of catalog.tablesOf(shapeId, firstUs, endUs)) {
      const time = { startUs: startOfMonthUs(month), endUs: startOfMonthUs(month + 1) }
      sources.push({ table, key: stream.key, columns, ...time })
    }
  }
  return sources.sort((left, right) => left.startUs - right.startUs)
}

/** One month first, which mostly fills the page, and then more of them together. */
function* stretchesOf(sources: readonly Source[]): Generator<Stretch> {
  const inTime = sources.toSorted((left, right) => left.startUs - right.startUs)
  const months = [...Map.groupBy(inTime, ({ startUs }) => startUs).values()]
  let together = 1
  for (let at = 0; at < months.length; ) {
    const stretch = months.slice(at, at + together).flat()
    const startUs = stretch[0]?.startUs ?? 0
    const endUs = stretch.at(-1)?.endUs ?? 0
    yield { sources: stretch, startUs, endUs }
    at += together
    together = Math.min(together * 2, monthsTogether)
  }
}
