import type { DuckDBConnection } from '@duckdb/node-api'
import { marksByStream } from '../../windows/kept-rows.ts'
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
    `SELECT "streamId" AS stream, from_us::DOUBLE AS from_us, to_us::DOUBLE AS to_us FROM ${table}`,
  )
  return marksByStream(rows)
}
