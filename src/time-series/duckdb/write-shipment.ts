import type { DuckDBConnection } from '@duckdb/node-api'
import { countChange, groupByStream } from '../stream-groups.ts'
import type { Shipment } from '../time-series-store.ts'
import { adoptChanges } from '../windows/window-changes.ts'
import { writeCounts } from './counts.ts'
import { examine, type Known } from './duplicates.ts'
import { createLateTables, lateRowsOf, withoutLate } from './late/late-rows.ts'
import { adoptTouches, shipmentTouches, writeTouches } from './rollups/mark-rollups.ts'
import { appendNewStreams, appendRows, createMissing } from './shipment-rows.ts'
import { rowsByTable } from './table-rows.ts'
import { shipmentChanges, writeMarks } from './windows/mark-windows.ts'

/** Rows, counts and position in one transaction; memory follows once it is committed. */
export async function writeShipment(
  writer: DuckDBConnection,
  known: Known,
  { shipment, nowUs }: { readonly shipment: Shipment; readonly nowUs: number },
): Promise<void> {
  const { catalog, lateTables } = known
  const streamsBefore = catalog.streams.size
  const all = groupByStream(catalog, shipment)
  const { duplicates, late } = await examine(writer, known, all)
  const lateRows = lateRowsOf(lateTables, all, late)
  await createLateTables(writer, known, lateRows)
  const groups = withoutLate(all, late)
  const rows = groups.flatMap((group) => rowsByTable(group, duplicates))
  await createMissing(writer, catalog, rows)
  const marked = await shipmentChanges(writer, catalog, all, shipment)
  const rolledUp = shipmentTouches(catalog, all)

  await writer.run('BEGIN')
  await appendNewStreams(writer, catalog, streamsBefore)
  await appendRows(writer, rows)
  await appendRows(writer, lateRows)
  for (const { table } of rows) catalog.touch(table)
  const changes = groups.map((group) => countChange(group, duplicates, nowUs))
  const countRows = await writeCounts(writer, catalog, changes)
  await writeMarks(writer, marked)
  await writeTouches(writer, rolledUp)
  await writer.run(`UPDATE shipper_position SET next_offset = ${shipment.nextOffset}`)
  await writer.run('COMMIT')

  for (const { record, added, after } of changes) {
    Object.assign(record, after)
    record.rate.add(added.stored, nowUs)
  }
  for (const { table, readings } of rows) catalog.grown(table, readings.length)
  for (const { record, readings } of lateRows) lateTables.added(record, readings.length)
  adoptChanges(catalog.windows, marked)
  adoptTouches(rolledUp)
  catalog.countRows = countRows
  catalog.position = shipment.nextOffset
}
