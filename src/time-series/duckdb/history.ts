import type { DuckDBConnection } from '@duckdb/node-api'
import type { Offset } from '../../journal/journal.ts'
import { inOrder, placeBefore } from '../raw-page.ts'
import {
  beforeAll,
  type HistoryPage,
  type HistoryQuery,
  type ReadingsCursor,
} from '../time-series-store.ts'
import { type Catalog, quoted, type ReadingsTable } from './catalog.ts'
import { readPage, sourcesOf } from './raw-readings.ts'
import { rowsOf } from './rows-of.ts'

/** What one page takes in memory. */
const pageBytesMax = 256 * 1024

const forever = { startUs: 0, endUs: Number.MAX_SAFE_INTEGER }

/**
 * A page of readings together with the position that the store had at that very moment: both are read
 * in one transaction.
 *
 * The catalog in memory may know a table that the transaction does not see. It never knows too little:
 * a table is in it before its first row is committed.
 */
export async function readHistory(
  connection: DuckDBConnection,
  catalogOf: () => Catalog,
  { streamId, after, limit }: HistoryQuery,
): Promise<HistoryPage> {
  for (;;) {
    const catalog = catalogOf()
    const tables = catalog.tables.size
    await connection.run('BEGIN')
    try {
      // The first statement decides what the transaction sees.
      const position = await positionOf(connection)
      if (catalogOf() !== catalog || catalog.tables.size !== tables) continue
      const query = { ...forever, streamId, fields: [], limit, bytesMax: pageBytesMax, after }
      const sources = sourcesOf(catalog, query)
      const { points, next } = await readPage(connection, sources, query)
      return { points, next, position }
    } finally {
      await connection.run('ROLLBACK')
    }
  }
}

async function positionOf(connection: DuckDBConnection): Promise<Offset> {
  const [row] = await rowsOf(connection, 'SELECT next_offset FROM shipper_position')
  return Number(row?.['next_offset'])
}

/** The place before the newest so many readings of a stream: before all when there are fewer. */
export async function placeBeforeNewest(
  connection: DuckDBConnection,
  catalog: Catalog,
  { streamId, count }: { readonly streamId: string; readonly count: number },
): Promise<ReadingsCursor> {
  const stream = catalog.streams.get(streamId)
  const newest: ReadingsCursor[] = []
  for (const shape of stream?.shapes ?? []) {
    const tables = catalog.tablesOf(shape, forever.startUs, forever.endUs).toReversed()
    const wanted = { key: stream?.key ?? 0, count }
    newest.push(...(await newestIn(connection, tables, wanted)))
  }
  newest.sort((left, right) => inOrder(right, left))
  const oldest = newest[count - 1]
  return oldest === undefined ? beforeAll : placeBefore(oldest)
}

/** The newest rows of a stream in tables that go back in time. */
async function newestIn(
  connection: DuckDBConnection,
  tables: readonly ReadingsTable[],
  { key, count }: { readonly key: number; readonly count: number },
): Promise<ReadingsCursor[]> {
  const found: ReadingsCursor[] = []
  for (const { name } of tables) {
    const rows = await rowsOf(
      connection,
      `SELECT epoch_us("timestamp") AS "$time", "$digest" FROM ${quoted(name)}
       WHERE "streamId" = ${key} ORDER BY "timestamp" DESC, "$digest" DESC
       LIMIT ${count - found.length}`,
    )
    for (const row of rows) {
      found.push({ timestampUs: Number(row['$time']), digest: row['$digest'] as bigint })
    }
    if (found.length >= count) break
  }
  return found
}
