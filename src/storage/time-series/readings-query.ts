import type { Offset } from '../journal/journal.ts'

/** One reading. */
export interface DataPoint {
  readonly timestampUs: number
  readonly values: Readonly<Record<string, unknown>>
  readonly extra?: Readonly<Record<string, unknown>>
  readonly flagged?: readonly string[]
  /** The digest that it is known by among readings of its time, where it is read as it is. */
  readonly digest?: bigint
}

/** The last reading of a page: its time, and what orders those of one time. */
export interface ReadingsCursor {
  readonly timestampUs: number
  readonly digest: bigint
  /** How much time the page took: a hint for the next one, which is right without it, too. */
  readonly spanUs?: number
}

/** The place before all readings: none is from before 1970 (decisions.md#times-of-readings). */
export const beforeAll: ReadingsCursor = { timestampUs: -1, digest: 0n }

/** In which direction of time a page is read. The pages of one are those of the other from behind, reading by reading. */
export type TimeOrder = 'asc' | 'desc'

/** A page of a stream's readings as they were sent, in the order of time. */
export interface ReadingsQuery {
  readonly streamId: string
  /** [startUs, endUs): half open. */
  readonly startUs: number
  readonly endUs: number
  /** Ascending, unless something is said. */
  readonly order?: TimeOrder | undefined
  /** Only these fields; all when empty. */
  readonly fields: readonly string[]
  readonly limit: number
  /** A page ends before it has more than this, but for one reading alone. */
  readonly bytesMax: number
  /** Where the page before ended. */
  readonly after: ReadingsCursor | undefined
}

export interface ReadingsPage {
  readonly points: readonly DataPoint[]
  readonly next: ReadingsCursor | undefined
}

/** Raw readings of one stream behind a place, in the order of time and then of digest. */
export interface HistoryQuery {
  readonly streamId: string
  readonly after: ReadingsCursor
  readonly limit: number
}

export interface HistoryPoint extends DataPoint {
  readonly digest: bigint
}

export interface HistoryPage {
  readonly points: readonly HistoryPoint[]
  /** Where the next page begins; undefined when there was nothing behind these points. */
  readonly next: ReadingsCursor | undefined
  /** The store's position at that very moment: nothing from it on is in the page. */
  readonly position: Offset
}

/** A question for the newest reading of each of some streams. */
export interface LatestQuery {
  readonly streamIds: readonly string[]
  /** The answer ends before it has more than this, but for one reading alone. */
  readonly bytesMax: number
}

export interface LatestReading {
  readonly streamId: string
  readonly point: DataPoint
}

export interface LatestPage {
  /** In the order of the question; streams without a reading are left out. */
  readonly readings: readonly LatestReading[]
  /** How many of the streams, from the first on, are answered by that. */
  readonly covered: number
}

/** A question for all readings of one time. */
export interface ReadingsAtQuery {
  readonly streamId: string
  readonly timestampUs: number
  readonly limit: number
  /** The answer ends before it has more than this, but for one reading alone. */
  readonly bytesMax: number
}

/** A reading with what is known of its way into the store. */
export interface ArrivedPoint extends DataPoint {
  readonly digest: bigint
  readonly receivedAtUs: number
  /** Its entry in the journal; a store that does not know it says nothing. */
  readonly offset?: Offset
}

export interface ReadingsAt {
  /** In the order of digest. Readings that wait to be looked up are among them. */
  readonly points: readonly ArrivedPoint[]
  readonly hasMore: boolean
  /** The store's position at that very moment: nothing from it on is among the points. */
  readonly position: Offset
}
