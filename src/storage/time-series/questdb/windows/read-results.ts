import { type KeptRow, storedWindow } from '../../windows/kept-rows.ts'
import type { StoredWindow, StoredWindowsQuery } from '../../windows/window-store.ts'
import type { WindowTables } from './window-tables.ts'

/** Rows of a stream that are read at once. */
const portionMin = 16
const portionMax = 1_000

/** Results in ascending time, and at one time by stream. */
export function readResults(tables: WindowTables, query: StoredWindowsQuery): StoredWindow[] {
  const { streamIds, startUs, endUs, after, limit } = query
  const portion = Math.min(portionMax, Math.max(portionMin, Math.ceil(limit / streamIds.length)))
  const done = after ? streamIds.findLastIndex((id) => id <= after.streamId) : -1
  const lanes = streamIds.map((streamId, place) => {
    const behindUs = after ? after.timestampUs + (place <= done ? 1 : 0) : 0
    const range = { startUs: Math.max(startUs, behindUs), endUs }
    return new Lane(tables, { streamId, range, portion })
  })
  const found: StoredWindow[] = []
  for (;;) {
    // Windows that are alike begin together: mostly all streams have one at a time.
    const nextUs = lanes.reduce((least, { nextUs: own }) => Math.min(least, own), endUs)
    if (nextUs >= endUs) return found
    for (const lane of lanes) {
      if (lane.nextUs !== nextUs) continue
      found.push(lane.take())
      if (found.length >= limit) return found
    }
  }
}

interface LaneNeeds {
  readonly streamId: string
  readonly range: { readonly startUs: number; readonly endUs: number }
  readonly portion: number
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
    this.#read(needs.range.startUs)
  }

  /** Where the next window begins; infinite when there is none. */
  get nextUs(): number {
    return Number(this.#rows[this.#at]?.['start_us'] ?? Number.POSITIVE_INFINITY)
  }

  /** The next one, which is there. */
  take(): StoredWindow {
    const window = storedWindow(this.#needs.streamId, this.#rows[this.#at++] as KeptRow)
    if (this.#at === this.#needs.portion) this.#read(window.timestampUs + 1)
    return window
  }

  #read(startUs: number): void {
    const { streamId, range, portion } = this.#needs
    this.#rows = this.#tables.resultsIn(streamId, { ...range, startUs, limit: portion })
    this.#at = 0
  }
}
