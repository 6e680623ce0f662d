import type { DuckDBConnection } from '@duckdb/node-api'
import type { StreamGroup } from '../../stream-groups.ts'
import type { Removal, Shipment, StoredReading } from '../../time-series-store.ts'
import { StreamWindows } from '../../windows/stream-windows.ts'
import {
  TouchedWindows,
  type WindowRange,
  type WindowSegment,
} from '../../windows/window-starts.ts'
import type { WindowVersion } from '../../windows/window-store.ts'
import { appendColumns } from '../append.ts'
import { type Catalog, type StreamRecord } from '../catalog.ts'
import { BigIntColumn, IntegerColumn, TextColumn } from '../columns.ts'
import { rowsOf } from '../rows-of.ts'
import { windowsTable } from './window-catalog.ts'

/** What a transaction changes about the windows of one stream; memory follows when it is committed. */
export interface WindowChange {
  readonly id: string
  readonly record: StreamRecord
  readonly windows: StreamWindows
  readonly segments: readonly WindowSegment[]
  readonly touched: readonly WindowRange[]
}

const nothingTold: ReadonlyMap<StoredReading, WindowVersion> = new Map()

/** The windows that a shipment touches, of streams that have some, and what it tells about them. */
export async function windowChanges(
  writer: DuckDBConnection,
  catalog: Catalog,
  groups: readonly StreamGroup<StreamRecord>[],
  { windows: told = nothingTold }: Shipment,
): Promise<readonly WindowChange[]> {
  if (told.size === 0 && catalog.windows.streams.size === 0) return []
  const toldStreams = new Set([...told.keys()].map(({ streamId }) => streamId))
  const changes: WindowChange[] = []
  for (const { id, record, arrived } of groups) {
    const known = catalog.windows.streams.get(id)
    if (!known && !toldStreams.has(id)) continue
    const windows = known ?? new StreamWindows()
    let { segments } = windows
    if (toldStreams.has(id))
      segments = await toldSegments(writer, catalog, { record, windows, arrived, told })
    if (segments.length === 0) continue
    const touched = new TouchedWindows(segments)
    // What was stored before there were windows has them from now on, too.
    if (windows.segments.length === 0) touched.addBetween(0, record.timestampMaxUs + 1)
    for (const { timestampUs } of arrived) touched.add(timestampUs)
    changes.push({ id, record, windows, segments, touched: touched.ranges() })
  }
  return changes
}

interface ToldStream {
  readonly record: StreamRecord
  readonly windows: StreamWindows
  readonly arrived: readonly StoredReading[]
  readonly told: ReadonlyMap<StoredReading, WindowVersion>
}

async function toldSegments(
  writer: DuckDBConnection,
  catalog: Catalog,
  { record, windows, arrived, told }: ToldStream,
): Promise<readonly WindowSegment[]> {
  let { segments } = windows
  // Removed readings may have left results behind the newest reading that there is now.
  let newestUs = segments.length === 0 ? -1 : await newestResult(writer, catalog, record)
  newestUs = Math.max(newestUs, record.timestampMaxUs)
  for (const reading of arrived) {
    const version = told.get(reading)
    if (version) {
      const { definition } = version
      const shared = definition && catalog.windows.shared(definition)
      segments = new StreamWindows(segments).segmentsWith(
        { ...version, definition: shared },
        newestUs,
      )
    }
    newestUs = Math.max(newestUs, reading.timestampUs)
  }
  return segments
}

async function newestResult(
  writer: DuckDBConnection,
  catalog: Catalog,
  { key }: StreamRecord,
): Promise<number> {
  for (const month of [...catalog.windows.months].sort((left, right) => right - left)) {
    const [row] = await rowsOf(
      writer,
      `SELECT max(start_us)::DOUBLE AS newest FROM ${windowsTable(month)} WHERE "streamId" = ${key}`,
    )
    const newest = row?.['newest'] as number | null
    if (newest !== null) return newest
  }
  return -1
}

/** What the removal of readings touches: nothing for a stream without windows. */
export function removalChange(
  catalog: Catalog,
  record: StreamRecord,
  { streamId, startUs, endUs }: Removal,
): WindowChange | undefined {
  const windows = catalog.windows.streams.get(streamId)
  if (!windows) return undefined
  // Behind the newest reading there is nothing that could be removed.
  const touched = windows.touchedBy(startUs, Math.min(endUs, record.timestampMaxUs + 1))
  return { id: streamId, record, windows, segments: windows.segments, touched }
}

/** Writes changes, within the transaction of the readings that they follow from. */
export async function writeMarks(
  writer: DuckDBConnection,
  changes: readonly WindowChange[],
): Promise<void> {
  const marks = changes.flatMap(({ record, windows, touched }) =>
    windows.marks.unmarked(touched).map((range) => ({ ...range, key: record.key })),
  )
  await appendMarks(writer, marks)
  const told = changes.flatMap(({ record, windows, segments }) =>
    segments
      .filter((segment) => !windows.segments.includes(segment))
      .map((segment) => ({ ...segment, key: record.key })),
  )
  if (told.length === 0) return
  const definitions = new TextColumn(told.length)
  for (const [row, { definition }] of told.entries()) {
    if (definition) definitions.set(row, JSON.stringify(definition))
    else definitions.setNull(row)
  }
  await appendColumns(writer, 'window_definitions', [
    new IntegerColumn(told.length).fill(told.map(({ key }) => key)),
    new IntegerColumn(told.length).fill(told.map(({ version }) => version)),
    new BigIntColumn(told.length).fill(told.map(({ fromUs }) => fromUs)),
    definitions,
  ])
}

export async function appendMarks(
  writer: DuckDBConnection,
  marks: readonly (WindowRange & { readonly key: number })[],
): Promise<void> {
  if (marks.length === 0) return
  await appendColumns(writer, 'window_marks', [
    new IntegerColumn(marks.length).fill(marks.map(({ key }) => key)),
    new BigIntColumn(marks.length).fill(marks.map(({ fromUs }) => fromUs)),
    new BigIntColumn(marks.length).fill(marks.map(({ toUs }) => toUs)),
  ])
}

/** Lets memory follow what was committed. */
export function adoptChanges(
  { windows: catalog }: Catalog,
  changes: readonly WindowChange[],
): void {
  for (const { id, windows, segments, touched } of changes) {
    windows.adopt(segments)
    windows.marks.touch(touched)
    if (!catalog.streams.has(id)) catalog.add(id, windows)
  }
}
