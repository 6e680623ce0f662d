import type { AggregatedField } from '../aggregate-query.ts'
import type { Expiry } from '../expiry.ts'
import type { TimeOrder } from '../readings-query.ts'

/**
 * How a stream's windows are cut, and what is made of the readings in each (decisions.md#windows).
 */
export interface WindowDefinition {
  /** Windows begin at whole multiples of it since the epoch (UTC). */
  readonly widthUs: number
  /** Each under its own name, with the function that the stream has chosen for it. */
  readonly fields: readonly AggregatedField[]
  /**
   * For how long a reading holds at most, where averages of the stream go by time
   * (decisions.md#readings-that-are-unchanged).
   */
  readonly holdUs?: number
}

/** What a version of a stream says about windows; a version may also end them. */
export interface WindowVersion {
  readonly version: number
  readonly definition: WindowDefinition | undefined
}

/** A mark: the windows that begin in [fromUs, toUs) have to be computed. Known by its identity. */
export interface WindowMark {
  readonly fromUs: number
  readonly toUs: number
  /** Changes with each change of readings that these windows are made of. */
  readonly touched: number
}

/** Windows of one stream that follow each other, marked, and due to be computed. */
export interface WindowPiece {
  readonly streamId: string
  readonly definition: WindowDefinition
  /** The first window, and the end of the last one. */
  readonly fromUs: number
  readonly toUs: number
  readonly mark: WindowMark
  /** What `mark.touched` was when this was handed out: whatever changed later makes it obsolete. */
  readonly touched: number
}

/** What was made of the readings of one window. */
export interface WindowContent {
  /** Where the window begins. */
  readonly timestampUs: number
  /** Readings in it. */
  readonly count: number
  readonly values: Readonly<Record<string, unknown>>
}

/** A piece that was computed, or the part of it before `coveredToUs`: the start of a window. */
export interface ComputedPiece {
  readonly piece: WindowPiece
  readonly coveredToUs: number
  /** Windows that have readings, in ascending time. */
  readonly windows: readonly WindowContent[]
}

export interface WindowsWritten {
  /** Windows that have a result for the first time. */
  readonly added: number
  /** Windows whose result has changed. */
  readonly revised: number
}

/** A result as it is stored. */
export interface StoredWindow extends WindowContent {
  readonly streamId: string
  /** 1 at first, and one more with each change. */
  readonly revision: number
  readonly computedAtUs: number
}

/** A question for the windows of some streams that begin in [startUs, endUs). */
export interface StoredWindowsQuery {
  /** Ascending in code units. */
  readonly streamIds: readonly string[]
  readonly startUs: number
  readonly endUs: number
  /** Ascending, unless something is said; descending it is that of the streams, too. */
  readonly order?: TimeOrder | undefined
  readonly limit: number
  readonly after: WindowCursor | undefined
}

/** The last window of a page. */
export interface WindowCursor {
  readonly timestampUs: number
  readonly streamId: string
}

/** Marked windows of a stream, the open ones included. */
export interface MarkedWindows {
  readonly streamId: string
  readonly definition: WindowDefinition
  /** The first window, and the end of the last one. */
  readonly fromUs: number
  readonly toUs: number
}

export interface StoredWindows {
  /** In the order of time, and at one time by stream: `limit` at most. */
  readonly windows: readonly StoredWindow[]
  /** What was marked when the question began: the results of these may be outdated, or missing. */
  readonly marked: readonly MarkedWindows[]
}

export interface WindowTotals {
  /** Stretches of windows that are marked, open windows among them. */
  readonly marks: number
  readonly added: number
  readonly revised: number
}

/**
 * The part of a time-series store that knows windows: which have to be computed, and what came out.
 *
 * A change of readings marks their windows in the same transaction, and a mark goes in the
 * transaction of the results, unless its windows were touched since they were computed. So with no
 * mark left the results are what the readings amount to, whatever crashed in between.
 */
export interface WindowStore {
  /**
   * Marked windows that ended by `closedBeforeUs`: about as many as `windowsMax`, or one piece alone,
   * however long it is. Of a stream those that begin before `dueFromUs` are left out.
   */
  due(
    closedBeforeUs: number,
    windowsMax: number,
    dueFromUs?: (streamId: string) => number,
  ): readonly WindowPiece[]

  /**
   * Keeps the results of pieces that nothing has touched since, each as a revision where there was
   * another one; a window that has lost its readings keeps a result with the count 0.
   */
  write(computed: readonly ComputedPiece[]): Promise<WindowsWritten>

  /** @throws DomainError `overloaded`, `query_too_slow` */
  stored(query: StoredWindowsQuery): Promise<StoredWindows>

  /**
   * Removes results of windows that begin before a time, some at once, and returns whether there may be
   * more. Each stream stands in it once.
   */
  expire(expiries: readonly Expiry[]): Promise<boolean>

  totals(): WindowTotals
}
