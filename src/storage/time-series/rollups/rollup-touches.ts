import type { Removal } from '../shipment.ts'
import type { StreamGroup } from '../stream-groups.ts'
import type { StreamState } from '../stream-state.ts'
import type { StreamWindows } from '../windows/stream-windows.ts'
import { TouchedWindows, type WindowRange } from '../windows/window-starts.ts'

/** The streams that are rolled up: what is marked of them is to be computed. */
export type RolledUpStreams = ReadonlyMap<string, StreamWindows>

/** Rows of one stream that have to be computed anew; memory follows when it is committed. */
export interface RollupChange<Record extends StreamState = StreamState> {
  readonly id: string
  readonly record: Record
  readonly rollup: StreamWindows
  readonly touched: readonly WindowRange[]
}

/** What a shipment touches. */
export function shipmentTouches<Record extends StreamState>(
  streams: RolledUpStreams,
  groups: readonly StreamGroup<Record>[],
): readonly RollupChange<Record>[] {
  if (streams.size === 0) return []
  return groups.flatMap(({ id, record, arrived }) => {
    const rollup = streams.get(id)
    if (!rollup || arrived.length === 0) return []
    const touched = new TouchedWindows(rollup.segments)
    for (const { timestampUs } of arrived) touched.add(timestampUs)
    return [{ id, record, rollup, touched: rollup.marks.filled(touched.ranges()) }]
  })
}

/** What the removal of readings touches. */
export function removalTouches<Record extends StreamState>(
  streams: RolledUpStreams,
  record: Record,
  { streamId, startUs, endUs }: Removal,
): readonly RollupChange<Record>[] {
  const rollup = streams.get(streamId)
  if (!rollup) return []
  // Behind the newest reading there is nothing that could be removed.
  const ranges = rollup.touchedBy(startUs, Math.min(endUs, record.timestampMaxUs + 1))
  return [{ id: streamId, record, rollup, touched: rollup.marks.filled(ranges) }]
}

/** Lets memory follow what was committed. */
export function adoptTouches(changes: readonly RollupChange[]): void {
  for (const { rollup, touched } of changes) rollup.marks.touch(touched)
}
