import type { DuckDBConnection } from '@duckdb/node-api'
import { rollupSegments } from '../../rollups/rollup-width.ts'
import { StreamWindows } from '../../windows/stream-windows.ts'
import type { WindowRange } from '../../windows/window-starts.ts'
import { rowsOf } from '../rows-of.ts'
import { loadMarks } from '../windows/load-marks.ts'

const rollupsDdl = `
  CREATE TABLE IF NOT EXISTS rollup_streams ("streamId" INTEGER);
  CREATE TABLE IF NOT EXISTS rollup_marks ("streamId" INTEGER, from_us BIGINT, to_us BIGINT);
`

/** The streams that are rolled up, in memory; the tables hold the same. */
export class RollupCatalog {
  readonly #streams = new Map<string, StreamWindows>()
  /** Ids of the shapes that have a table of rows. */
  readonly shapes = new Set<string>()
  /** Rows that were computed since the file was opened. */
  computed = 0

  /** @param ids of the streams by their numbers */
  static async load(
    connection: DuckDBConnection,
    ids: ReadonlyMap<number, string>,
  ): Promise<RollupCatalog> {
    const catalog = new RollupCatalog()
    await connection.run(rollupsDdl)
    const marks = await loadMarks(connection, 'rollup_marks')
    for (const row of await rowsOf(connection, 'SELECT "streamId" AS key FROM rollup_streams')) {
      const id = ids.get(row['key'] as number)
      if (id !== undefined) catalog.add(id, marks.get(row['key'] as number))
    }
    const tables = await rowsOf(
      connection,
      `SELECT table_name AS name FROM duckdb_tables() WHERE table_name LIKE 'rollups\\_%' ESCAPE '\\'`,
    )
    for (const { name } of tables) catalog.shapes.add(String(name).slice('rollups_'.length))
    return catalog
  }

  /** What is marked is to be computed; everything else is as its rows say. */
  get streams(): ReadonlyMap<string, StreamWindows> {
    return this.#streams
  }

  add(id: string, marked: readonly WindowRange[] = []): void {
    this.#streams.set(id, new StreamWindows(rollupSegments, marked))
  }

  remove(id: string): void {
    this.#streams.delete(id)
  }

  /** Everything that has rows of streams. */
  tables(): readonly string[] {
    return ['rollup_streams', 'rollup_marks', ...[...this.shapes].map(rollupTable)]
  }

  get marks(): number {
    let count = 0
    for (const { marks } of this.#streams.values()) count += marks.count
    return count
  }
}

/** The table of the rows of a shape. */
export function rollupTable(shape: string): string {
  return `rollups_${shape}`
}
