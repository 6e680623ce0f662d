import type { DuckDBConnection } from '@duckdb/node-api'
import { type Catalog, quoted } from '../catalog.ts'
import { isTableMissing } from '../duckdb-file.ts'
import { rowsOf } from '../rows-of.ts'
import type { Look } from '../store-turns.ts'
import { slicesOf, type TimeSlice, within } from '../time-slices.ts'
import type { LateTable } from './late-tables.ts'

/** Row numbers of readings that are not to be stored, by the table they wait in. */
export type LateDuplicates = ReadonlyMap<LateTable, readonly number[]>

/**
 * Finds those of the late readings that are stored already, or wait twice. The tables must not change
 * meanwhile; what else is stored meanwhile is newer than they are, so it cannot be the same (see
 * `examine`).
 */
export async function findLateDuplicates(
  look: Look,
  catalog: Catalog,
  tables: readonly LateTable[],
): Promise<LateDuplicates> {
  const found = new Map(tables.map((table) => [table, new Set<number>()]))
  const note = (of: readonly LateTable[], rows: readonly LateRow[]) => {
    for (const { source, row } of rows) found.get(of[source] as LateTable)?.add(row)
  }
  note(tables, await look((reader) => waitingTwice(reader, tables)))
  // What has to be read for one of them is about what has to be read for all of its shape.
  for (const ofShape of Map.groupBy(tables, ({ shape }) => shape).values()) {
    for (const place of await look((reader) => placesOf(reader, catalog, ofShape))) {
      for (const slice of slicesOf(place)) {
        note(ofShape, await look((reader) => storedAlready(reader, ofShape, slice)))
      }
    }
  }
  return new Map([...found].map(([table, rows]) => [table, [...rows]]))
}

/** A row of one of the tables that are looked at together. */
interface LateRow {
  /** Place of the table among them. */
  readonly source: number
  readonly row: number
}

/** What is compared of the rows of all these tables, as a table of a statement. */
function together(tables: readonly LateTable[]): string {
  const all = tables.map(
    ({ name }, at) =>
      `SELECT ${at} AS source, rowid::DOUBLE AS row, "streamId", "timestamp", "$digest", "$receivedAt"
       FROM ${quoted(name)}`,
  )
  return `(${all.join(' UNION ALL ')})`
}

/** All but the first of those that are the same. */
async function waitingTwice(
  reader: DuckDBConnection,
  tables: readonly LateTable[],
): Promise<readonly LateRow[]> {
  const rows = await rowsOf(
    reader,
    `SELECT source, row FROM (
       SELECT source, row, row_number() OVER (
         PARTITION BY "streamId", "timestamp", "$digest" ORDER BY "$receivedAt", source, row) AS nth
       FROM ${together(tables)})
     WHERE nth > 1`,
  )
  return rows as unknown as readonly LateRow[]
}

/** Tables of months that may hold some of the late readings, and between which times. */
async function placesOf(
  reader: DuckDBConnection,
  catalog: Catalog,
  tables: readonly LateTable[],
): Promise<readonly TimeSlice[]> {
  const months = await rowsOf(
    reader,
    `SELECT year("timestamp") * 100 + month("timestamp") AS month,
       epoch_us(min("timestamp"))::DOUBLE AS first, epoch_us(max("timestamp"))::DOUBLE AS last
     FROM ${together(tables)} GROUP BY ALL`,
  )
  const keys = await rowsOf(reader, `SELECT DISTINCT "streamId" AS key FROM ${together(tables)}`)
  const streams = new Set(keys.map(({ key }) => key))
  const shapes = new Set(
    [...catalog.streams.values()]
      .filter(({ key }) => streams.has(key))
      .flatMap((record) => [...record.shapes]),
  )
  return months.flatMap(({ month, first, last }) => {
    const startUs = first as number
    const endUs = (last as number) + 1
    return [...catalog.tables.values()]
      .filter((table) => table.month === Number(month) && shapes.has(table.shape))
      .map((table) => ({ table, startUs, endUs }))
  })
}

/**
 * Rows of late tables that the slice has, too. Times are compared first: their column is small, and
 * the digests of a large table are most of what would have to be read.
 */
async function storedAlready(
  reader: DuckDBConnection,
  tables: readonly LateTable[],
  { table, startUs, endUs }: TimeSlice,
): Promise<readonly LateRow[]> {
  const isAlike = 'r."streamId" = l."streamId" AND r."timestamp" = l."timestamp"'
  try {
    const [alike] = await rowsOf(
      reader,
      `SELECT epoch_us(min(l."timestamp"))::DOUBLE AS first,
         epoch_us(max(l."timestamp"))::DOUBLE AS last
       FROM ${together(tables)} l WHERE ${within('l', startUs, endUs)} AND EXISTS (
         SELECT 1 FROM ${quoted(table.name)} r
         WHERE ${isAlike} AND ${within('r', startUs, endUs)})`,
    )
    const { first, last } = alike as { readonly first: number | null; readonly last: number | null }
    if (first === null || last === null) return []
    const rows = await rowsOf(
      reader,
      `SELECT l.source, l.row FROM ${together(tables)} l
       WHERE ${within('l', first, last + 1)} AND EXISTS (
         SELECT 1 FROM ${quoted(table.name)} r
         WHERE ${isAlike} AND r."$digest" = l."$digest" AND ${within('r', first, last + 1)})`,
    )
    return rows as unknown as readonly LateRow[]
  } catch (error) {
    // A month that has become too old is removed as a whole: nothing of it is stored any more.
    if (isTableMissing(error)) return []
    throw error
  }
}
