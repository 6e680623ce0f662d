import type { DuckDBConnection } from '@duckdb/node-api'
import {
  inOrder,
  type OrderedPage,
  type OrderedPoint,
  type Outline,
  orderOf,
  RawPage,
} from '../raw-page.ts'
import type { ReadingsPage, ReadingsQuery, TimeOrder } from '../readings-query.ts'
import type { Column } from '../shape.ts'
import { type Catalog, quoted } from './catalog.ts'
import { startOfMonthUs } from './months.ts'
import { pointOf, readingList, readingSize } from './reading-rows.ts'
import { visitRows } from './rows-of.ts'

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

/**
 * [startUs, endUs), without what stands at its start up to a digest, or from a digest on at its last
 * microsecond.
 */
export interface Window {
  readonly startUs: number
  readonly endUs: number
  readonly afterDigest?: bigint | undefined
  readonly beforeDigest?: bigint | undefined
}

/**
 * One page of a stream's readings as they are, in the order of (time, digest), or in that from behind.
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
  for (const stretch of stretchesOf(sources, query.order)) {
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
  const { order } = page.query
  const next = order === 'desc' ? windowBefore : windowAfter
  for (let window = next(page, stretch); window; window = next(page, stretch, window)) {
    const { startUs, endUs } = window
    const sources = stretch.sources.filter(
      (source) => source.startUs < endUs && source.endUs > startUs,
    )
    const asked = { sources, window, rows: page.rowsWanted, order }
    const found = await outlineOf(connection, asked)
    const taken = page.roomFor(found)
    const last = found[taken - 1]
    if (last) page.add(await pointsOf(connection, { sources, window, last }, page.query))
    if (taken < found.length) {
      page.end()
      return true
    }
    page.widen(found.length)
  }
  return false
}

/** The stretch of time behind a window that is looked through next; undefined at the end of the months. */
function windowAfter(page: RawPage, months: Stretch, done?: Window): Window | undefined {
  const { startUs, endUs, after } = page.query
  const hasCursor = after !== undefined && after.timestampUs >= startUs
  const firstUs = Math.max(months.startUs, startUs, hasCursor ? after.timestampUs : 0)
  const lastUs = Math.min(months.endUs, endUs)
  const atUs = done?.endUs ?? firstUs
  if (atUs >= lastUs) return undefined
  return {
    startUs: atUs,
    endUs: Math.min(atUs + page.spanUs, lastUs),
    afterDigest: hasCursor && atUs === after.timestampUs ? after.digest : undefined,
  }
}

/** The stretch of time before a window, for a page from behind. */
function windowBefore(page: RawPage, months: Stretch, done?: Window): Window | undefined {
  const { startUs, endUs, after } = page.query
  const hasCursor = after !== undefined && after.timestampUs < endUs
  const firstUs = Math.max(months.startUs, startUs)
  const lastUs = Math.min(months.endUs, hasCursor ? after.timestampUs + 1 : endUs)
  const atUs = done?.startUs ?? lastUs
  if (atUs <= firstUs) return undefined
  return {
    startUs: Math.max(atUs - page.spanUs, firstUs),
    endUs: atUs,
    beforeDigest: hasCursor && atUs === after.timestampUs + 1 ? after.digest : undefined,
  }
}

interface AskedOutline {
  readonly sources: readonly Source[]
  readonly window: Window
  readonly rows: number
  readonly order: TimeOrder | undefined
}

/** Order and sizes of the first readings of a window. */
async function outlineOf(
  connection: DuckDBConnection,
  { sources, window, rows, order = 'asc' }: AskedOutline,
): Promise<Outline[]> {
  // Between two months that have readings there may be one that has none.
  if (sources.length === 0) return []
  const parts = sources.map(({ table, key, columns }) => {
    return `SELECT "timestamp" AS t, "$digest" AS d, ${readingSize(columns)} AS b
      FROM ${quoted(table)} WHERE ${within(key, window)}`
  })
  const found: Outline[] = []
  await visitRows(
    connection,
    `SELECT epoch_us(t)::DOUBLE AS t, d, b::DOUBLE AS b FROM (${onceEach(sources, parts)}) AS found
     ORDER BY found.t ${order}, d ${order} LIMIT ${rows}`,
    ({ t, d, b }) => {
      found.push({ timestampUs: t as number, digest: d as bigint, bytes: b as number })
    },
  )
  return found
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
  query: ReadingsQuery,
): Promise<OrderedPoint[]> {
  const points: OrderedPoint[] = []
  const time = instant(last.timestampUs)
  const [beyond, upTo] = query.order === 'desc' ? ['>', '>='] : ['<', '<=']
  const upToLast = `"timestamp" ${upTo} ${time} AND ("timestamp" ${beyond} ${time} OR "$digest" ${upTo} ${last.digest}::UBIGINT)`
  for (const { table, key, columns } of sources) {
    await visitRows(
      connection,
      `SELECT ${readingList(columns)} FROM ${quoted(table)}
       WHERE ${within(key, window)} AND ${upToLast}`,
      (row) => points.push(pointOf(row, columns, query.fields.length === 0)),
    )
  }
  points.sort(orderOf(query))
  if (!sources.some(({ isLate }) => isLate)) return points
  return points.filter((point, at) => {
    const before = points[at - 1]
    return before === undefined || inOrder(before, point) !== 0
  })
}

export function within(key: number, { startUs, endUs, afterDigest, beforeDigest }: Window): string {
  const start = instant(startUs)
  const conditions = [
    `"streamId" = ${key}`,
    `"timestamp" >= ${start}`,
    `"timestamp" < ${instant(endUs)}`,
  ]
  if (afterDigest !== undefined) {
    conditions.push(`("timestamp" > ${start} OR "$digest" > ${afterDigest}::UBIGINT)`)
  }
  if (beforeDigest !== undefined) {
    const last = instant(endUs - 1)
    conditions.push(`("timestamp" < ${last} OR "$digest" < ${beforeDigest}::UBIGINT)`)
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
  const { startUs, endUs, fields, order, after } = query
  const firstUs = order === 'desc' ? startUs : Math.max(startUs, after?.timestampUs ?? 0)
  const lastUs = order === 'desc' && after ? Math.min(endUs, after.timestampUs + 1) : endUs
  const sources: Source[] = []
  for (const shapeId of stream.shapes) {
    const all = catalog.shapes.get(shapeId)?.columns ?? []
    const columns = fields.length === 0 ? all : all.filter(({ name }) => fields.includes(name))
    for (const { name: table, month } of catalog.tablesOf(shapeId, firstUs, lastUs)) {
      const time = { startUs: startOfMonthUs(month), endUs: startOfMonthUs(month + 1) }
      sources.push({ table, key: stream.key, columns, ...time })
    }
  }
  return sources.sort((left, right) => left.startUs - right.startUs)
}

/** One month first, which mostly fills the page, and then more of them together. */
function* stretchesOf(
  sources: readonly Source[],
  order: TimeOrder | undefined,
): Generator<Stretch> {
  const direction = order === 'desc' ? -1 : 1
  const inTime = sources.toSorted((left, right) => direction * (left.startUs - right.startUs))
  const months = [...Map.groupBy(inTime, ({ startUs }) => startUs).values()]
  let together = 1
  for (let at = 0; at < months.length; ) {
    const stretch = months.slice(at, at + together).flat()
    const ends = [stretch[0], stretch.at(-1)].flatMap((source) => source ?? [])
    const startUs = Math.min(...ends.map((source) => source.startUs))
    const endUs = Math.max(...ends.map((source) => source.endUs))
    yield { sources: stretch, startUs, endUs }
    at += together
    together = Math.min(together * 2, monthsTogether)
  }
}
