import type { Removal, ShippedReading } from '../shipment.ts'
import type { StreamGroup } from '../stream-groups.ts'
import type { StreamState } from '../stream-state.ts'
import type { KnownWindows } from './known-windows.ts'
import { StreamWindows } from './stream-windows.ts'
import { TouchedWindows, type WindowRange, type WindowSegment } from './window-starts.ts'
import type { WindowVersion } from './window-store.ts'

/** What a transaction changes about the windows of one stream; memory follows when it is committed. */
export interface WindowChange<Record extends StreamState = StreamState> {
  readonly id: string
  readonly record: Record
  readonly windows: StreamWindows
  readonly segments: readonly WindowSegment[]
  /** As `WindowMarks.filled` has them. */
  readonly touched: readonly WindowRange[]
}

export interface ArrivedReadings<Record extends StreamState = StreamState> {
  readonly groups: readonly StreamGroup<Record>[]
  /** What versions say about windows, by the first reading of each. */
  readonly defined: ReadonlyMap<ShippedReading, WindowVersion> | undefined
}

/** Where the newest window begins that a stream has a result of, or -1. */
export type NewestResultUs<Record extends StreamState = StreamState> = (
  group: StreamGroup<Record>,
) => Promise<number>

/** The windows that a shipment touches, of streams that have some, and how they are defined. */
export async function windowChanges<Record extends StreamState>(
  known: KnownWindows,
  { groups, defined = new Map() }: ArrivedReadings<Record>,
  newestResultUs: NewestResultUs<Record>,
): Promise<readonly WindowChange<Record>[]> {
  if (defined.size === 0 && known.streams.size === 0) return []
  const definedStreams = new Set([...defined.keys()].map(({ streamId }) => streamId))
  const changes: WindowChange<Record>[] = []
  for (const group of groups) {
    const { id, record, arrived } = group
    const own = known.streams.get(id)
    if (!own && !definedStreams.has(id)) continue
    const windows = own ?? new StreamWindows()
    let { segments } = windows
    if (definedStreams.has(id)) {
      // Removed readings may have left results behind the newest reading that there is now.
      const resultUs = segments.length === 0 ? -1 : await newestResultUs(group)
      const newestUs = Math.max(resultUs, record.timestampMaxUs)
      segments = definedSegments(known, { segments, arrived, defined }, newestUs)
    }
    if (segments.length === 0) continue
    const touched = new TouchedWindows(segments)
    // What was stored before there were windows has them from now on, too.
    if (windows.segments.length === 0) touched.addBetween(0, record.timestampMaxUs + 1)
    for (const { timestampUs } of arrived) touched.add(timestampUs)
    const filled = windows.marks.filled(touched.ranges())
    changes.push({ id, record, windows, segments, touched: filled })
  }
  return changes
}

interface DefinedStream {
  readonly segments: readonly WindowSegment[]
  readonly arrived: readonly ShippedReading[]
  readonly defined: ReadonlyMap<ShippedReading, WindowVersion>
}

function definedSegments(
  known: KnownWindows,
  { segments: before, arrived, defined }: DefinedStream,
  newestBeforeUs: number,
): readonly WindowSegment[] {
  let segments = before
  let newestUs = newestBeforeUs
  for (const reading of arrived) {
    const version = defined.get(reading)
    if (version) {
      const { definition } = version
      const shared = definition && known.shared(definition)
      const windows = new StreamWindows(segments)
      segments = windows.segmentsWith({ ...version, definition: shared }, newestUs)
    }
    newestUs = Math.max(newestUs, reading.timestampUs)
  }
  return segments
}

/** What the removal of readings touches: nothing for a stream without windows. */
export function removalChange<Record extends StreamState>(
  known: KnownWindows,
  record: Record,
  { streamId, startUs, endUs }: Removal,
): WindowChange<Record> | undefined {
  const windows = known.streams.get(streamId)
  if (!windows) return undefined
  // Behind the newest reading there is nothing that could be removed.
  const ranges = windows.touchedBy(startUs, Math.min(endUs, record.timestampMaxUs + 1))
  const touched = windows.marks.filled(ranges)
  return { id: streamId, record, windows, segments: windows.segments, touched }
}

/** Segments that a change brings. */
export function newSegments({ windows, segments }: WindowChange): readonly WindowSegment[] {
  return segments.filter((segment) => !windows.segments.includes(segment))
}

/** Ranges that a change marks and that are not marked yet. */
export function newMarks({ windows, touched }: WindowChange): readonly WindowRange[] {
  return windows.marks.unmarked(touched)
}

/** Lets memory follow what was committed. */
export function adoptChanges(known: KnownWindows, changes: readonly WindowChange[]): void {
  for (const { id, windows, segments, touched } of changes) {
    windows.adopt(segments)
    windows.marks.touch(touched)
    if (!known.streams.has(id)) known.add(id, windows)
  }
}

/** Adds a segment as it was stored: in the order of versions. */
export function addSegment(segments: WindowSegment[], segment: WindowSegment): void {
  // A later version may have begun where this one did: then nothing is left of it.
  if (segments.at(-1)?.fromUs === segment.fromUs) segments.pop()
  segments.push(segment)
}
