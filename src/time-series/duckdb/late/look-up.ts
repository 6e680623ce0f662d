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
  for (const { source, row } of await look((reader) => waitingTwice(reader, tables))) {
    found.get(tables[source] as LateTable)?.add(row)
  }
  for (const late of tables) {
    for (const place of await look((reader) => placesOf(reader, catalog, late))) {
      for (const slice of slicesOf(place)) {
        const rows = await look((reader) => storedAlready(reader, late, slice))
        for (const row of rows) found.get(late)?.add(row)
      }
    }
  }
  return new Map([...found].map(([table, rows]) => [table, [...rows]]))
}

interface WaitingTwice {
  /** Place of the table among those that are looked at. */
  readonly source: number
  readonly row: number
}

/** All but the first of those that are the same. */
async function waitingTwice(
  reader: DuckDBConnection,
  tables: readonly LateTable[],
): Promise<readonly WaitingTwice[]> {
  const all = tables.map(
    ({ name }, at) =>
      `SELECT ${at} AS source, rowid::DOUBLE AS row, "streamId", "timestamp", "$digest", "$receivedAt"
       FROM ${quoted(name)}`,
  )
  const rows = await rowsOf(
    reader,
    `SELECT source, row FROM (
       SELECT source, row, row_number() OVER (
         PARTITION BY "streamId", "timestamp", "$digest" ORDER BY "$receivedAt", source, row) AS nth
       FROM (${all.join(' UNION ALL ')}))
     WHERE nth > 1`,
  )
  return rows as unknown as readonly WaitingTwice[]
}

/** Tables of months that may hold some of the late readings, and between which times. */
async function placesOf(
  reader: DuckDBConnection,
  catalog: Catalog,
  { name }: LateTable,
): Promise<readonly TimeSlice[]> {
  const months = await rowsOf(
    reader,
    `SELECT year("timestamp") * 100 + month("timestamp") AS month,
       epoch_us(min("timestamp"))::DOUBLE AS first, epoch_us(max("timestamp"))::DOUBLE AS last
     FROM ${quoted(name)} GROUP BY ALL`,
  )
  const keys = await rowsOf(reader, `SELECT DISTINCT "streamId" AS key FROM ${quoted(name)}`)
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
 * Rows of a late table that the slice has, too. Times are compared first: their column is small, and
 * the digests of a large table are most of what would have to be read.
 */
async function storedAlready(
  reader: DuckDBConnection,
  { name }: LateTable,
  { table, startUs, endUs }: TimeSlice,
): Promise<readonly number[]> {
  const isAlike = 'r."streamId" = l."streamId" AND r."timestamp" = l."timestamp"'
  try {
    const [alike] = await rowsOf(
      reader,
      `SELECT epoch_us(min(l."timestamp"))::DOUBLE AS first,
         epoch_us(max(l."timestamp"))::DOUBLE AS last
       FROM ${quoted(name)} l WHERE ${within('l', startUs, endUs)} AND EXISTS (
         SELECT 1 FROM ${quoted(table.name)} r
         WHERE ${isAlike} AND ${within('r', startUs, endUs)})`,
    )
    const { first, last } = alike as { readonly first: number | null; readonly last: number | null }
    if (first === null || last === null) return []
    const rows = await rowsOf(
      reader,
      `SELECT l.rowid::DOUBLE AS row FROM ${quoted(name)} l
       WHERE ${within('l', first, last + 1)} AND EXISTS (
         SELECT 1 FROM ${quoted(table.name)} r
         WHERE ${isAlike} AND r."$digest" = l."$digest" AND ${within('r', first, last + 1)})`,
    )
    return rows.map(({ row }) => row as number)
  } catch (error) {
    // A month that has become too old is removed as a whole: nothing of it is stored any more.
    if (isTableMissing(error)) return []
    throw error
  }
}
