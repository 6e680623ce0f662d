import type { DuckDBConnection } from '@duckdb/node-api'
import type { WindowRange } from '../../windows/window-starts.ts'
import { rowsOf } from '../rows-of.ts'

/** Marks of windows that streams define, and of the rows that many readings are rolled up into. */
export type MarksTable = 'window_marks' | 'rollup_marks'

/** What is marked, by the small numbers of the streams. */
export async function loadMarks(
  connection: DuckDBConnection,
  table: MarksTable,
): Promise<ReadonlyMap<number, readonly WindowRange[]>> {
  const rows = await rowsOf(
    connection,
    `SELECT "streamId" AS key, from_us::DOUBLE AS from_us, to_us::DOUBLE AS to_us FROM ${table}`,
  )
  const byStream = new Map<number, WindowRange[]>()
  for (const row of rows) {
    const key = row['key'] as number
    const own = byStream.get(key) ?? []
    byStream.set(key, own)
    own.push({ fromUs: row['from_us'] as number, toUs: row['to_us'] as number })
  }
  return byStream
}
