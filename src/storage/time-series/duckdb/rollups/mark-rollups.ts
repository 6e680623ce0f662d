import type { DuckDBConnection } from '@duckdb/node-api'
import type { RollupChange } from '../../rollups/rollup-touches.ts'
import { rollupWidthUs } from '../../rollups/rollup-width.ts'
import { united } from '../../windows/window-starts.ts'
import { type Catalog, quoted, type StreamRecord } from '../catalog.ts'
import { rowsOf } from '../rows-of.ts'
import { appendMarks } from '../windows/mark-windows.ts'

/**
 * What late readings touch that come to their places now: rows may have been computed without them since they
 * arrived.
 *
 * @param tables in which they have waited
 */
export async function lateTouches(
  writer: DuckDBConnection,
  { streams, rollups }: Catalog,
  tables: readonly string[],
): Promise<readonly RollupChange<StreamRecord>[]> {
  if (rollups.streams.size === 0 || tables.length === 0) return []
  const found = await rowsOf(
    writer,
    `SELECT DISTINCT s.id, epoch_us("timestamp") // ${rollupWidthUs} * ${rollupWidthUs}::DOUBLE AS start
     FROM (${tables.map((table) => `SELECT "streamId", "timestamp" FROM ${quoted(table)}`).join(' UNION ALL ')})
     JOIN streams s USING ("streamId") SEMI JOIN rollup_streams USING ("streamId")`,
  )
  const byStream = Map.groupBy(found, (row) => row['id'] as string)
  return [...byStream].flatMap(([id, rows]) => {
    const [record, rollup] = [streams.get(id), rollups.streams.get(id)]
    if (!record || !rollup) return []
    const ranges = united(
      rows.map((row) => {
        const fromUs = row['start'] as number
        return { fromUs, toUs: fromUs + rollupWidthUs }
      }),
    )
    return [{ id, record, rollup, touched: rollup.marks.filled(ranges) }]
  })
}

/** Writes marks, within the transaction of the readings that they follow from. */
export async function writeTouches(
  writer: DuckDBConnection,
  changes: readonly RollupChange<StreamRecord>[],
): Promise<void> {
  const marks = changes.flatMap(({ record: { key }, rollup, touched }) =>
    rollup.marks.unmarked(touched).map((range) => ({ ...range, key })),
  )
  await appendMarks(writer, 'rollup_marks', marks)
}
