import type { DuckDBConnection } from '@duckdb/node-api'
import { adoptTouches, shipmentTouches } from '../rollups/rollup-touches.ts'
import type { Shipment } from '../shipment.ts'
import { adopt, countChange, groupByStream } from '../stream-groups.ts'
import { adoptChanges } from '../windows/window-changes.ts'
import { writeCounts } from './counts.ts'
import { examine, type Known } from './duplicates.ts'
import { createLateTables, lateRowsOf, withoutLate } from './late/late-rows.ts'
import { writeTouches } from './rollups/mark-rollups.ts'
import { appendNewStreams, appendRows, createMissing, firstOf, rowsIn } from './shipment-rows.ts'
import { type RowsByTable, rowsByTable } from './table-rows.ts'
import { shipmentChanges, writeMarks } from './windows/mark-windows.ts'

/** Columns of each table of readings beside its fields. */
const ownColumns = 6

/**
 * Rows, counts and position in one transaction; memory follows once it is committed. Resolves with the
 * number of columns, of all tables, that readings were written to.
 */
export async function writeShipment(
  writer: DuckDBConnection,
  known: Known,
  { shipment, nowUs }: { readonly shipment: Shipment; readonly nowUs: number },
): Promise<number> {
  const { catalog, lateTables } = known
  const streamsBefore = catalog.streams.size
  const all = groupByStream(catalog, shipment)
  const { duplicates, late } = await examine(writer, known, all)
  const lateRows = lateRowsOf(lateTables, all, late)
  await createLateTables(writer, known, lateRows)
  const groups = withoutLate(all, late)
  const rows = rowsByTable(groups, duplicates)
  await createMissing(writer, catalog, rows)
  const marked = await shipmentChanges(writer, catalog, all, shipment)
  const rolledUp = shipmentTouches(catalog.rollups.streams, all)

  await writer.run('BEGIN')
  await appendNewStreams(writer, catalog, streamsBefore)
  await appendRows(writer, rows)
  await appendRows(
    writer,
    Map.groupBy(lateRows, (part) => part.late.name),
  )
  for (const table of rows.keys()) catalog.touch(table)
  const changes = groups.map((group) => countChange(group, duplicates, nowUs))
  const countRows = await writeCounts(writer, catalog, changes)
  await writeMarks(writer, marked)
  await writeTouches(writer, rolledUp)
  await writer.run(`UPDATE shipper_position SET next_offset = ${shipment.nextOffset}`)
  await writer.run('COMMIT')

  for (const change of changes) {
    adopt(change)
    change.record.rate.add(change.stored)
  }
  for (const [table, parts] of rows) catalog.grown(table, rowsIn(parts))
  for (const { late: table, record, readings } of lateRows) {
    lateTables.added(record, table, readings.length)
  }
  adoptChanges(catalog.windows, marked)
  adoptTouches(rolledUp)
  catalog.countRows = countRows
  catalog.position = shipment.nextOffset
  return columnsOf(rows)
}

function columnsOf(rows: RowsByTable): number {
  let columns = 0
  for (const parts of rows.values()) columns += ownColumns + firstOf(parts).shape.columns.length
  return columns
}
