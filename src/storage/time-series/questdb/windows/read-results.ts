import type { TimeOrder } from '../../readings-query.ts'
import { type KeptRow, storedWindow } from '../../windows/kept-rows.ts'
import type { StoredWindow, StoredWindowsQuery } from '../../windows/window-store.ts'
import type { WindowTables } from './window-tables.ts'

/** Rows of a stream that are read at once. */
const portionMin = 16
const portionMax = 1_000

/** Results in the order of time, and at one time by stream. */
export function readResults(tables: WindowTables, query: StoredWindowsQuery): StoredWindow[] {
  const { streamIds, limit, order = 'asc' } = query
  const portion = Math.min(portionMax, Math.max(portionMin, Math.ceil(limit / streamIds.length)))
  const lanes = streamIds.map((streamId) => {
    const range = rangeBehind(query, streamId)
    return new Lane(tables, { streamId, range, portion, order })
  })
  if (order === 'desc') lanes.reverse()
  const found: StoredWindow[] = []
  for (;;) {
    // Windows that are alike begin together: mostly all streams have one at a time.
    const nextUs = nextOf(lanes, order)
    if (nextUs === undefined) return found
    for (const lane of lanes) {
      if (lane.nextUs !== nextUs) continue
      found.push(lane.take())
      if (found.length >= limit) return found
    }
  }
}

function nextOf(lanes: readonly Lane[], order: TimeOrder): number | undefined {
  const pick = order === 'desc' ? Math.max : Math.min
  let next: number | undefined
  for (const { nextUs } of lanes) {
    if (nextUs !== undefined) next = pick(next ?? nextUs, nextUs)
  }
  return next
}

interface Range {
  readonly startUs: number
  readonly endUs: number
}

/** The part of a range in which windows of a stream are behind the cursor. */
function rangeBehind(query: StoredWindowsQuery, streamId: string): Range {
  const { startUs, endUs, after, order } = query
  if (after === undefined) return { startUs, endUs }
  const { timestampUs } = after
  return order === 'desc'
    ? { startUs, endUs: Math.min(endUs, timestampUs + (streamId < after.streamId ? 1 : 0)) }
    : { startUs: Math.max(startUs, timestampUs + (streamId <= after.streamId ? 1 : 0)), endUs }
}

interface LaneNeeds {
  readonly streamId: string
  readonly range: Range
  readonly portion: number
  readonly order: TimeOrder
}

/** Results of one stream, read portion by portion, as far as they are asked for. */
class Lane {
  readonly #tables: WindowTables
  readonly #needs: LaneNeeds
  #rows: readonly KeptRow[] = []
  #at = 0

  constructor(tables: WindowTables, needs: LaneNeeds) {
    this.#tables = tables
    this.#needs = needs
    this.#read(needs.range)
  }

  /** Where the next window begins; undefined when there is none. */
  get nextUs(): number | undefined {
    const row = this.#rows[this.#at]
    return row && Number(row['start_us'])
  }

  /** The next one, which is there. */
  take(): StoredWindow {
    const { streamId, range, portion, order } = this.#needs
    const window = storedWindow(streamId, this.#rows[this.#at++] as KeptRow)
    if (this.#at < portion) return window
    const { timestampUs } = window
    const rest = order === 'desc' ? { endUs: timestampUs } : { startUs: timestampUs + 1 }
    this.#read({ ...range, ...rest })
    return window
  }

  #read(range: Range): void {
    const { streamId, portion, order } = this.#needs
    this.#rows = this.#tables.resultsIn(streamId, { ...range, limit: portion, order })
    this.#at = 0
  }
}
