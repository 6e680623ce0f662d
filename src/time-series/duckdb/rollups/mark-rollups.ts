import type { DuckDBConnection } from '@duckdb/node-api'
import type { StreamGroup } from '../../stream-groups.ts'
import type { Removal } from '../../time-series-store.ts'
import type { StreamWindows } from '../../windows/stream-windows.ts'
import { TouchedWindows, united, type WindowRange } from '../../windows/window-starts.ts'
import { type Catalog, quoted, type StreamRecord } from '../catalog.ts'
import { rowsOf } from '../rows-of.ts'
import { appendMarks } from '../windows/mark-windows.ts'
import { rollupWidthUs } from './rollup-catalog.ts'

/** Rows of one stream that have to be computed anew; memory follows when it is committed. */
export interface RollupChange {
  readonly record: StreamRecord
  readonly rollup: StreamWindows
  readonly touched: readonly WindowRange[]
}

/** What a shipment touches. */
export function shipmentTouches(
  { rollups: { streams } }: Catalog,
  groups: readonly StreamGroup<StreamRecord>[],
): readonly RollupChange[] {
  if (streams.size === 0) return []
  return groups.flatMap(({ id, record, arrived }) => {
    const rollup = streams.get(id)
    if (!rollup || arrived.length === 0) return []
    const touched = new TouchedWindows(rollup.segments)
    for (const { timestampUs } of arrived) touched.add(timestampUs)
    return [{ record, rollup, touched: rollup.marks.filled(touched.ranges()) }]
  })
}

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
): Promise<readonly RollupChange[]> {
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
    return [{ record, rollup, touched: rollup.marks.filled(ranges) }]
  })
}

/** What the removal of readings touches. */
export function removalTouches(
  { rollups: { streams } }: Catalog,
  record: StreamRecord,
  { streamId, startUs, endUs }: Removal,
): readonly RollupChange[] {
  const rollup = streams.get(streamId)
  if (!rollup) return []
  // Behind the newest reading there is nothing that could be removed.
  const ranges = rollup.touchedBy(startUs, Math.min(endUs, record.timestampMaxUs + 1))
  return [{ record, rollup, touched: rollup.marks.filled(ranges) }]
}

/** Writes marks, within the transaction of the readings that they follow from. */
export async function writeTouches(
  writer: DuckDBConnection,
  changes: readonly RollupChange[],
): Promise<void> {
  const marks = changes.flatMap(({ record: { key }, rollup, touched }) =>
    rollup.marks.unmarked(touched).map((range) => ({ ...range, key })),
  )
  await appendMarks(writer, 'rollup_marks', marks)
}

/** Lets memory follow what was committed. */
export function adoptTouches(changes: readonly RollupChange[]): void {
  for (const { rollup, touched } of changes) rollup.marks.touch(touched)
}
