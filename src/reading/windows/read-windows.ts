import { compareText } from '../../core/canonical-json.ts'
import type { Clock } from '../../core/clock.ts'
import type { TimeOrder } from '../../storage/time-series/readings-query.ts'
import { isWindowOf, saysTheSame } from '../../storage/time-series/windows/revisions.ts'
import type {
  MarkedWindows,
  StoredWindow,
  StoredWindowsQuery,
  WindowContent,
  WindowCursor,
} from '../../storage/time-series/windows/window-store.ts'
import { type Group, groupsOf, type WindowedStore, windowsQuery } from './compute-windows.ts'

/** A window as it is at this moment. */
export interface WindowPoint extends WindowContent {
  readonly streamId: string
  /** The revision that it is kept under, or will be once it is. */
  readonly revision: number
  /** Nothing for a window that is open, or being revised: it may still change under its revision. */
  readonly computedAtUs: number | undefined
}

export interface WindowsPage {
  /** In the order of time, and at one time by stream. */
  readonly points: readonly WindowPoint[]
  readonly next: WindowCursor | undefined
}

/**
 * Windows of streams as their readings are now (decisions.md#windows): results as far as nothing is
 * marked, and computed anew where something is, so an answer is never behind the readings that are
 * stored.
 *
 * @throws DomainError `overloaded`, `query_too_slow`
 */
export async function readWindows(
  store: WindowedStore,
  query: StoredWindowsQuery,
  clock: Clock,
): Promise<WindowsPage> {
  const { limit, after, order = 'asc' } = query
  // One more, to know whether anything follows.
  const { windows, marked } = await store.windows.stored({ ...query, limit: limit + 1 })
  const page = new MergedPage(windows, order)
  const lastUs = windows.length > limit ? windows.at(-1)?.timestampUs : undefined
  const shown =
    order === 'desc'
      ? { firstUs: lastUs, lastUs: after?.timestampUs }
      : { firstUs: after?.timestampUs, lastUs }
  const groups = inTurn(groupsOf(marked.flatMap((piece) => clipped(piece, shown))), order)
  for (const { pieces, ...group } of groups) {
    if (page.countAhead(group) > limit) break
    const streamIds = pieces.map(({ streamId }) => streamId)
    const asked = windowsQuery({ ...group, streamIds, untilUs: clock.nowUs() })
    const { points, next } = await store.aggregate({
      ...asked,
      limit: limit + 1,
      order,
      after: after && { timestampUs: after.timestampUs, series: after.streamId },
    })
    // What comes behind that many points is on a later page.
    page.replace(pieces, { computed: points, isPart: next !== undefined })
  }
  return page.cut(limit)
}

/** Groups in the order in which their windows are shown. */
function inTurn<One extends Group<MarkedWindows>>(
  groups: readonly One[],
  order: TimeOrder,
): readonly One[] {
  return order === 'desc'
    ? groups.toSorted((left, right) => right.toUs - left.toUs)
    : groups.toSorted((left, right) => left.fromUs - right.fromUs)
}

/** The windows between which a page lies, as far as they are known. */
interface ShownStretch {
  readonly firstUs: number | undefined
  readonly lastUs: number | undefined
}

/** The part of a piece that a page can show; nothing where that is none. */
function clipped(
  piece: MarkedWindows,
  { firstUs = 0, lastUs }: ShownStretch,
): readonly MarkedWindows[] {
  const { widthUs } = piece.definition
  const fromUs = Math.max(piece.fromUs, Math.floor(firstUs / widthUs) * widthUs)
  const endUs = lastUs === undefined ? piece.toUs : (Math.floor(lastUs / widthUs) + 1) * widthUs
  const toUs = Math.min(piece.toUs, endUs)
  return fromUs < toUs ? [{ ...piece, fromUs, toUs }] : []
}

interface Computed {
  readonly computed: readonly (WindowContent & { readonly series: string })[]
  /** Whether there would have been more. */
  readonly isPart: boolean
}

/** Stored results, where marked windows are replaced by what they are now. */
class MergedPage {
  readonly #points = new Map<string, WindowPoint>()
  readonly #order: TimeOrder

  constructor(stored: readonly StoredWindow[], order: TimeOrder) {
    this.#order = order
    for (const window of stored) this.#points.set(keyOf(window.streamId, window), window)
  }

  /** How many come before all that are in a stretch of time. */
  countAhead({ fromUs, toUs }: { readonly fromUs: number; readonly toUs: number }): number {
    let count = 0
    for (const { timestampUs } of this.#points.values()) {
      if (this.#order === 'desc' ? timestampUs >= toUs : timestampUs < fromUs) count++
    }
    return count
  }

  replace(pieces: readonly MarkedWindows[], { computed, isPart }: Computed): void {
    const outdated = this.#within(pieces)
    for (const { series, timestampUs, count, values } of computed) {
      const key = keyOf(series, { timestampUs })
      const stored = outdated.get(key)
      outdated.delete(key)
      const now = { streamId: series, timestampUs, count, values }
      this.#points.set(key, stored ? revised(stored, now) : { ...now, ...notKept, revision: 1 })
    }
    const last = computed.at(-1)
    for (const [key, stored] of outdated) {
      if (isPart && last && this.#compare(stored, { ...last, streamId: last.series }) > 0) continue
      this.#points.set(key, revised(stored, { ...stored, count: 0, values: {} }))
    }
  }

  cut(limit: number): WindowsPage {
    const all = [...this.#points.values()].sort((left, right) => this.#compare(left, right))
    const points = all.slice(0, limit)
    const last = points.at(-1)
    const isLast = last === undefined || all.length <= limit
    const next = isLast ? undefined : { timestampUs: last.timestampUs, streamId: last.streamId }
    return { points, next }
  }

  #compare(left: WindowCursor, right: WindowCursor): number {
    return this.#order === 'desc' ? inOrder(right, left) : inOrder(left, right)
  }

  #within(pieces: readonly MarkedWindows[]): Map<string, StoredWindow> {
    const byStream = new Map(pieces.map((piece) => [piece.streamId, piece]))
    const within = new Map<string, StoredWindow>()
    for (const [key, point] of this.#points) {
      const piece = byStream.get(point.streamId)
      if (piece && isWindowOf(piece, point.timestampUs)) within.set(key, point as StoredWindow)
    }
    return within
  }
}

function inOrder(left: WindowCursor, right: WindowCursor): number {
  return left.timestampUs - right.timestampUs || compareText(left.streamId, right.streamId)
}

const notKept = { computedAtUs: undefined }

function revised(stored: StoredWindow, now: WindowContent): WindowPoint {
  if (saysTheSame(stored, now)) return stored
  return { ...stored, ...now, ...notKept, revision: stored.revision + 1 }
}

function keyOf(streamId: string, { timestampUs }: { readonly timestampUs: number }): string {
  return `${timestampUs} ${streamId}`
}
