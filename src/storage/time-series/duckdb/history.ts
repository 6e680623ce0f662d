import type { DuckDBConnection } from '@duckdb/node-api'
import type { Offset } from '../../journal/journal.ts'
import { inOrder, placeBefore } from '../raw-page.ts'
import {
  beforeAll,
  type HistoryPage,
  type HistoryQuery,
  type ReadingsCursor,
  type ReadingsQuery,
} from '../readings-query.ts'
import { quoted, type ReadingsTable } from './catalog.ts'
import type { Contents } from './contents.ts'
import { lateMark, lateSourcesOf, lateTablesSeen } from './late/late-sources.ts'
import { readPage, type Source, sourcesOf } from './raw-readings.ts'
import { rowsOf } from './rows-of.ts'

/** Bytes that one page takes in memory. */
const pageBytesMax = 256 * 1024

const forever = { startUs: 0, endUs: Number.MAX_SAFE_INTEGER }

/**
 * A page of readings together with the position that the store had at that very moment: both are read
 * in one transaction. Readings that wait to be looked up are among them: the position is behind them.
 */
export async function readHistory(
  connection: DuckDBConnection,
  contentsOf: () => Contents,
  { streamId, after, limit }: HistoryQuery,
): Promise<HistoryPage> {
  const query = { ...forever, streamId, fields: [], limit, bytesMax: pageBytesMax, after }
  return await atOnePosition(connection, contentsOf, query, async (sources, position) => {
    const { points, next } = await readPage(connection, sources, query)
    return { points, next, position }
  })
}

/**
 * Reads in one transaction, in which the store is at one position.
 *
 * The catalog in memory may know a table that the transaction does not see. It never knows too little:
 * a table is in it before its first row is committed.
 */
export async function atOnePosition<Result>(
  connection: DuckDBConnection,
  contentsOf: () => Contents,
  query: ReadingsQuery,
  read: (sources: readonly Source[], position: Offset) => Promise<Result>,
): Promise<Result> {
  for (;;) {
    const contents = contentsOf()
    const { catalog } = contents
    const tables = catalog.tables.size
    const mark = lateMark(contents)
    await connection.run('BEGIN')
    try {
      // The first statement decides what the transaction sees.
      const position = await positionOf(connection)
      if (contentsOf() !== contents || catalog.tables.size !== tables) continue
      const sources = sourcesOf(catalog, query)
      const record = catalog.streams.get(query.streamId)
      if (record) {
        const late = { record, tables: await lateTablesSeen(connection, contents, mark) }
        const startUs = Math.max(query.after?.timestampUs ?? 0, query.startUs)
        sources.push(...(await lateSourcesOf(connection, contents, { ...late, startUs })))
      }
      return await read(sources, position)
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
  contents: Contents,
  { streamId, count }: { readonly streamId: string; readonly count: number },
): Promise<ReadingsCursor> {
  const { catalog } = contents
  const record = catalog.streams.get(streamId)
  if (!record) return beforeAll
  const mark = lateMark(contents)
  await connection.run('BEGIN')
  await positionOf(connection)
  const late = await lateTablesSeen(connection, contents, mark)
  const wanted = { key: record.key, count }
  const newest: ReadingsCursor[] = []
  for (const shape of record.shapes) {
    const tables = catalog.tablesOf(shape, forever.startUs, forever.endUs).toReversed()
    newest.push(...(await newestIn(connection, tables, wanted)))
    for (const table of late) {
      if (table.shape === shape) newest.push(...(await newestIn(connection, [table], wanted)))
    }
  }
  newest.sort((left, right) => inOrder(right, left))
  const different = newest.filter((place, at) => {
    const before = newest[at - 1]
    return before === undefined || inOrder(before, place) !== 0
  })
  const oldest = different[count - 1]
  return oldest === undefined ? beforeAll : placeBefore(oldest)
}

/** The newest rows of a stream in tables that go back in time. */
async function newestIn(
  connection: DuckDBConnection,
  tables: readonly Pick<ReadingsTable, 'name'>[],
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
