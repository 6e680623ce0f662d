import type { DuckDBConnection } from '@duckdb/node-api'
import type { Candidate } from '../../rollups/candidates.ts'
import { rollupWidthUs } from '../../rollups/rollup-width.ts'
import { floorTo } from '../../windows/window-starts.ts'
import { appendColumns } from '../append.ts'
import { type Catalog, quoted, type ReadingsTable, type StreamRecord } from '../catalog.ts'
import { IntegerColumn } from '../columns.ts'
import { monthOf } from '../months.ts'
import { rowsOf } from '../rows-of.ts'
import { appendMarks } from '../windows/mark-windows.ts'

/** Those of which one row would stand for many readings, in the month of their newest one. */
export async function denseStreams(
  reader: DuckDBConnection,
  catalog: Catalog,
  {
    candidates,
    perRowMin,
  }: { readonly candidates: readonly Candidate<StreamRecord>[]; readonly perRowMin: number },
): Promise<readonly Candidate<StreamRecord>[]> {
  const readings = new Map<number, number>()
  const rows = new Map<number, number>()
  for (const [table, keys] of newestTables(catalog, candidates)) {
    const found = await rowsOf(
      reader,
      `SELECT key, sum(readings)::DOUBLE AS readings, count(*)::DOUBLE AS rows FROM (
         SELECT "streamId" AS key, count(*) AS readings FROM ${quoted(table.name)}
         WHERE "streamId" IN (${keys.join(', ')})
         GROUP BY "streamId", epoch_us("timestamp") // ${rollupWidthUs}) GROUP BY key`,
    )
    for (const row of found) {
      const key = row['key'] as number
      readings.set(key, (readings.get(key) ?? 0) + (row['readings'] as number))
      rows.set(key, (rows.get(key) ?? 0) + (row['rows'] as number))
    }
  }
  return candidates.filter(({ record: { key } }) => {
    const count = readings.get(key) ?? 0
    return count > 0 && count >= perRowMin * (rows.get(key) ?? 0)
  })
}

function newestTables(
  catalog: Catalog,
  candidates: readonly Candidate<StreamRecord>[],
): ReadonlyMap<ReadingsTable, readonly number[]> {
  const keys = new Map<ReadingsTable, number[]>()
  for (const { record } of candidates) {
    const month = monthOf(record.timestampMaxUs)
    for (const shape of record.shapes) {
      const table = catalog.tablesOfShape(shape).find((one) => one.month === month)
      if (table) keys.set(table, [...(keys.get(table) ?? []), record.key])
    }
  }
  return keys
}

/** From now on these are rolled up: all that they have is marked. */
export async function enrol(
  writer: DuckDBConnection,
  catalog: Catalog,
  dense: readonly Candidate<StreamRecord>[],
): Promise<void> {
  const marked = dense
    .filter(({ id, record }) => !catalog.rollups.streams.has(id) && record.timestampMaxUs >= 0)
    .map(({ id, record: { key, timestampMaxUs } }) => {
      const toUs = floorTo(timestampMaxUs, rollupWidthUs) + rollupWidthUs
      return { id, key, fromUs: 0, toUs }
    })
  await writer.run('BEGIN')
  await appendColumns(writer, 'rollup_streams', [
    new IntegerColumn(marked.length).fill(marked.map(({ key }) => key)),
  ])
  await appendMarks(writer, 'rollup_marks', marked)
  await writer.run('COMMIT')
  for (const { id, fromUs, toUs } of marked) catalog.rollups.add(id, [{ fromUs, toUs }])
}
