import type { DuckDBConnection } from '@duckdb/node-api'
import type { Shipment } from '../../shipment.ts'
import type { StreamGroup } from '../../stream-groups.ts'
import {
  newMarks,
  newSegments,
  type WindowChange,
  windowChanges,
} from '../../windows/window-changes.ts'
import type { WindowRange } from '../../windows/window-starts.ts'
import { appendColumns } from '../append.ts'
import { type Catalog, type StreamRecord } from '../catalog.ts'
import { BigIntColumn, IntegerColumn, TextColumn } from '../columns.ts'
import { rowsOf } from '../rows-of.ts'
import type { MarksTable } from './load-marks.ts'
import { type WindowCatalog, windowsTable } from './window-catalog.ts'

/** The windows that a shipment touches, of streams that have some, and what it tells about them. */
export async function shipmentChanges(
  writer: DuckDBConnection,
  { windows }: Catalog,
  groups: readonly StreamGroup<StreamRecord>[],
  { windows: defined }: Shipment,
): Promise<readonly WindowChange<StreamRecord>[]> {
  return await windowChanges(windows, { groups, defined }, ({ record }) =>
    newestResult(writer, windows, record),
  )
}

async function newestResult(
  writer: DuckDBConnection,
  { months }: WindowCatalog,
  { key }: StreamRecord,
): Promise<number> {
  for (const month of [...months].sort((left, right) => right - left)) {
    const [row] = await rowsOf(
      writer,
      `SELECT max(start_us)::DOUBLE AS newest FROM ${windowsTable(month)} WHERE "streamId" = ${key}`,
    )
    const newest = row?.['newest'] as number | null
    if (newest !== null) return newest
  }
  return -1
}

/** Writes changes, within the transaction of the readings that they follow from. */
export async function writeMarks(
  writer: DuckDBConnection,
  changes: readonly WindowChange<StreamRecord>[],
): Promise<void> {
  const marks = changes.flatMap((change) => {
    const { key } = change.record
    return newMarks(change).map((range) => ({ ...range, key }))
  })
  await appendMarks(writer, 'window_marks', marks)
  const defined = changes.flatMap((change) => {
    const { key } = change.record
    return newSegments(change).map((segment) => ({ ...segment, key }))
  })
  if (defined.length === 0) return
  const definitions = new TextColumn(defined.length)
  for (const [row, { definition }] of defined.entries()) {
    if (definition) definitions.set(row, JSON.stringify(definition))
    else definitions.setNull(row)
  }
  await appendColumns(writer, 'window_definitions', [
    new IntegerColumn(defined.length).fill(defined.map(({ key }) => key)),
    new IntegerColumn(defined.length).fill(defined.map(({ version }) => version)),
    new BigIntColumn(defined.length).fill(defined.map(({ fromUs }) => fromUs)),
    definitions,
  ])
}

export async function appendMarks(
  writer: DuckDBConnection,
  table: MarksTable,
  marks: readonly (WindowRange & { readonly key: number })[],
): Promise<void> {
  if (marks.length === 0) return
  await appendColumns(writer, table, [
    new IntegerColumn(marks.length).fill(marks.map(({ key }) => key)),
    new BigIntColumn(marks.length).fill(marks.map(({ fromUs }) => fromUs)),
    new BigIntColumn(marks.length).fill(marks.map(({ toUs }) => toUs)),
  ])
}
