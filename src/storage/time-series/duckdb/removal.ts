import type { DuckDBConnection } from '@duckdb/node-api'
import { adoptTouches, removalTouches } from '../rollups/rollup-touches.ts'
import type { Removal } from '../shipment.ts'
import { adoptChanges, removalChange } from '../windows/window-changes.ts'
import { type Catalog, quoted, type StreamRecord } from './catalog.ts'
import { addDeleted, replaceCounts } from './counts.ts'
import { newestOf, tablesOf } from './newest.ts'
import { writeTouches } from './rollups/mark-rollups.ts'
import { rowsOf } from './rows-of.ts'
import { writeMarks } from './windows/mark-windows.ts'

/**
 * Rows of one portion, about: what is deleted in one transaction is kept in memory until the end of it, and
 * other work of the store waits meanwhile.
 */
const rowsPerPortion = 200_000

export interface RemovalNeeds {
  readonly writer: DuckDBConnection
  readonly catalog: Catalog
  /** Called after each portion, outside of a transaction. */
  readonly onPortion: (rows: number) => Promise<void>
}

/**
 * Removes readings portion by portion, each with its count in one transaction. The last one moves the
 * position, so what was cut off is begun again, and finds what is left.
 */
export async function removeReadings(needs: RemovalNeeds, removal: Removal): Promise<void> {
  const record = needs.catalog.streams.get(removal.streamId)
  if (record) {
    await markTouched(needs, record, removal)
    for (const table of tablesOf(needs.catalog, record, removal)) {
      while (await removePortion(needs, { record, table, removal }))
        await needs.onPortion(rowsPerPortion)
    }
  }
  await finish(needs, record, removal)
}

/** Before anything is gone: should the rest never come to its end, what was computed is outdated. */
async function markTouched(
  { writer, catalog }: RemovalNeeds,
  record: StreamRecord,
  removal: Removal,
): Promise<void> {
  const change = removalChange(catalog.windows, record, removal)
  const changes = change ? [change] : []
  const rolledUp = removalTouches(catalog.rollups.streams, record, removal)
  if (changes.length + rolledUp.length === 0) return
  await writer.run('BEGIN')
  await writeMarks(writer, changes)
  await writeTouches(writer, rolledUp)
  await writer.run('COMMIT')
  adoptChanges(catalog.windows, changes)
  adoptTouches(rolledUp)
}

/** Returns whether there was anything to remove. */
async function removePortion(
  { writer, catalog }: RemovalNeeds,
  { record, table, removal }: { record: StreamRecord; table: string; removal: Removal },
): Promise<boolean> {
  const condition = `"streamId" = ${record.key}
    AND "timestamp" >= make_timestamp(${removal.startUs}::BIGINT)
    AND "timestamp" < make_timestamp(${removal.endUs}::BIGINT)`
  const [portion] = await rowsOf(
    writer,
    `SELECT min(row)::DOUBLE AS first, max(row)::DOUBLE AS last FROM (
       SELECT rowid AS row FROM ${quoted(table)} WHERE ${condition} LIMIT ${rowsPerPortion})`,
  )
  const { first, last } = portion as { readonly first: number | null; readonly last: number | null }
  if (first === null || last === null) return false
  await writer.run('BEGIN')
  const { rowsChanged } = await writer.run(
    `DELETE FROM ${quoted(table)} WHERE ${condition} AND rowid BETWEEN ${first} AND ${last}`,
  )
  await addDeleted(writer, record, rowsChanged)
  catalog.touch(table)
  await writer.run('COMMIT')
  record.counts = { ...record.counts, deleted: record.counts.deleted + rowsChanged }
  catalog.countRows++
  return true
}

/** Moves the position, and the newest timestamp of the stream when that was removed. */
async function finish(
  { writer, catalog }: RemovalNeeds,
  record: StreamRecord | undefined,
  removal: Removal,
): Promise<void> {
  const { startUs, endUs, nextOffset } = removal
  const wasNewest =
    record !== undefined && record.timestampMaxUs >= startUs && record.timestampMaxUs < endUs
  const newestUs = wasNewest ? await newestOf(writer, catalog, record) : -1
  // Once more: windows may have been computed between two portions.
  const change = record && removalChange(catalog.windows, record, removal)
  const changes = change ? [change] : []
  const rolledUp = record ? removalTouches(catalog.rollups.streams, record, removal) : []
  await writer.run('BEGIN')
  await writeMarks(writer, changes)
  await writeTouches(writer, rolledUp)
  const rowsLess = wasNewest ? await replaceCounts(writer, record, newestUs) : 0
  await writer.run(`UPDATE shipper_position SET next_offset = ${nextOffset}`)
  await writer.run('COMMIT')
  adoptChanges(catalog.windows, changes)
  adoptTouches(rolledUp)
  catalog.position = nextOffset
  catalog.countRows -= rowsLess
  if (wasNewest) {
    record.timestampMaxUs = newestUs
    // What comes next is stored, even if it says the same as what was removed.
    record.newestContent = undefined
  }
}
