import type { DuckDBConnection } from '@duckdb/node-api'
import type { Candidate } from '../../rollups/candidates.ts'
import { rollupWidthUs } from '../../rollups/rollup-width.ts'
import { floorTo } from '../../windows/window-starts.ts'
import { appendColumns } from '../append.ts'
import { type Catalog, quoted, type ReadingsTable, type StreamRecord } from '../catalog.ts'
import { IntegerColumn } from '../columns.ts'
import { isTableMissing } from '../duckdb-file.ts'
import { givenKeys } from '../given-rows.ts'
import { monthOf, startOfMonthUs } from '../months.ts'
import { rowsOf } from '../rows-of.ts'
import type { Look } from '../store-turns.ts'
import { slicesOf, type TimeSlice, within } from '../time-slices.ts'
import { appendMarks } from '../windows/mark-windows.ts'

interface Candidacy {
  readonly candidates: readonly Candidate<StreamRecord>[]
  readonly perRowMin: number
}

/**
 * Picks the streams of which one row would stand for many readings, in the month of their newest
 * one.
 */
export async function denseStreams(
  look: Look,
  catalog: Catalog,
  { candidates, perRowMin }: Candidacy,
): Promise<readonly Candidate<StreamRecord>[]> {
  const readings = new Map<number, number>()
  const rows = new Map<number, number>()
  for (const [table, records] of newestTables(catalog, candidates)) {
    for (const slice of slicesOf(spanOf(table, records), rollupWidthUs)) {
      for (const counted of await look((reader) => countRows(reader, slice, records))) {
        const { key } = counted
        readings.set(key, (readings.get(key) ?? 0) + counted.readings)
        rows.set(key, (rows.get(key) ?? 0) + counted.rows)
      }
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
): ReadonlyMap<ReadingsTable, readonly StreamRecord[]> {
  const records = new Map<ReadingsTable, StreamRecord[]>()
  for (const { record } of candidates) {
    const month = monthOf(record.timestampMaxUs)
    for (const shape of record.shapes) {
      const table = catalog.tablesOfShape(shape).find((one) => one.month === month)
      if (table) records.set(table, [...(records.get(table) ?? []), record])
    }
  }
  return records
}

/** The month as far as there are readings. */
function spanOf(table: ReadingsTable, records: readonly StreamRecord[]): TimeSlice {
  const lastUs = records.reduce((last, { timestampMaxUs }) => Math.max(last, timestampMaxUs), 0)
  return { table, startUs: startOfMonthUs(table.month), endUs: lastUs + 1 }
}

interface CountedRows {
  readonly key: number
  readonly readings: number
  /** That would stand for them. */
  readonly rows: number
}

async function countRows(
  reader: DuckDBConnection,
  { table, startUs, endUs }: TimeSlice,
  records: readonly StreamRecord[],
): Promise<readonly CountedRows[]> {
  const keys = records.map(({ key }) => key)
  try {
    const counted = await rowsOf(
      reader,
      `SELECT key, sum(readings)::DOUBLE AS readings, count(*)::DOUBLE AS rows FROM (
         SELECT "streamId" AS key, count(*) AS readings FROM ${quoted(table.name)} r
         WHERE "streamId" IN ${givenKeys(keys)} AND ${within('r', startUs, endUs)}
         GROUP BY "streamId", epoch_us("timestamp") // ${rollupWidthUs}) GROUP BY key`,
    )
    return counted as unknown as readonly CountedRows[]
  } catch (error) {
    // Its readings were all removed since.
    if (isTableMissing(error)) return []
    throw error
  }
}

/** From now on these are rolled up: all that they have is marked. */
export async function enrol(
  writer: DuckDBConnection,
  catalog: Catalog,
  dense: readonly Candidate<StreamRecord>[],
): Promise<void> {
  const marked = dense
    .filter(({ id, record }) => {
      const isRolledUp = catalog.rollups.streams.has(id)
      return !record.hasLeft && !isRolledUp && record.timestampMaxUs >= 0
    })
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
