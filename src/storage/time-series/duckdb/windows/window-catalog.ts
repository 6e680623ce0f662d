import type { DuckDBConnection } from '@duckdb/node-api'
import { segmentsByStream } from '../../windows/kept-rows.ts'
import { KnownWindows } from '../../windows/known-windows.ts'
import { StreamWindows } from '../../windows/stream-windows.ts'
import { monthOf } from '../months.ts'
import { rowsOf } from '../rows-of.ts'
import { loadMarks } from './load-marks.ts'

const windowsDdl = `
  CREATE TABLE IF NOT EXISTS window_definitions (
    "streamId" INTEGER, version INTEGER, from_us BIGINT, definition VARCHAR);
  CREATE TABLE IF NOT EXISTS window_marks ("streamId" INTEGER, from_us BIGINT, to_us BIGINT);
`

/** What is known of windows, and which tables they are in. */
export class WindowCatalog extends KnownWindows {
  /** Months of results: each has a table. */
  readonly months = new Set<number>()

  /** @param ids of the streams by their numbers */
  static async load(
    connection: DuckDBConnection,
    ids: ReadonlyMap<number, string>,
  ): Promise<WindowCatalog> {
    const catalog = new WindowCatalog()
    await connection.run(windowsDdl)
    const definitions = await rowsOf(
      connection,
      `SELECT "streamId" AS stream, version, from_us::DOUBLE AS from_us, definition
       FROM window_definitions ORDER BY "streamId", version`,
    )
    const segments = segmentsByStream(definitions, (text) => catalog.parsed(text))
    const marks = await loadMarks(connection, 'window_marks')
    for (const [key, own] of segments) {
      const id = ids.get(key)
      if (id !== undefined) catalog.add(id, new StreamWindows(own, marks.get(key)))
    }
    const tables = await rowsOf(
      connection,
      `SELECT table_name AS name FROM duckdb_tables() WHERE table_name LIKE 'windows\\_%' ESCAPE '\\'`,
    )
    for (const { name } of tables) catalog.months.add(Number(String(name).split('_')[1]))
    return catalog
  }

  /** Everything that has rows of streams. */
  tables(): readonly string[] {
    return ['window_definitions', 'window_marks', ...[...this.months].map(windowsTable)]
  }

  /** Months of results that windows in [fromUs, toUs) can be in, in order. */
  monthsOf(fromUs: number, toUs: number): readonly number[] {
    const first = monthOf(fromUs)
    const last = monthOf(toUs - 1)
    return [...this.months].filter((month) => month >= first && month <= last).sort(ascending)
  }
}

function ascending(left: number, right: number): number {
  return left - right
}

/** The table of results of windows that begin in a month, as `monthOf` writes it. */
export function windowsTable(month: number): string {
  return `windows_${String(month).padStart(6, '0')}`
}
