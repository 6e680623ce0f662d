import type { Offset } from '../journal/journal.ts'
import type { AggregatePage, AggregateQuery } from './aggregate-query.ts'
import type {
  HistoryPage,
  HistoryQuery,
  LatestPage,
  LatestQuery,
  ReadingsAt,
  ReadingsAtQuery,
  ReadingsCursor,
  ReadingsPage,
  ReadingsQuery,
} from './readings-query.ts'
import type { RefusingStore } from './refused-readings.ts'
import type { SeriesPage, SeriesQuery } from './series.ts'
import type { Removal, Shipment } from './shipment.ts'
import type { CopiedStore } from './store-copy.ts'
import type { StoreDurability } from './store-durability.ts'
import type { WindowStore } from './windows/window-store.ts'

/** What the store has counted of a stream, up to the shipper's position. */
export interface StoredCounts {
  readonly received: number
  readonly stored: number
  readonly duplicates: number
  /** How many of those stored were removed again. */
  readonly deleted: number
  /** How many of those stored were not kept any longer. None of them is among the deleted. */
  readonly expired: number
  /** What is older than this has not been kept: 0 when everything was. Only ever grows. */
  readonly keptFromUs: number
  /** Dropped, because they said the same as the one before. */
  readonly unchanged: number
  /** Not stored, because a server did not take them; none where nothing is said. */
  readonly refused?: number
  /** Sum over the stored readings of the time from receipt to the commit here; redriven and imported ones add 0. */
  readonly latencyUs: number
  readonly lastStoredAtUs: number
}

/** Queries that are being answered, and that wait for their turn. */
export interface QueryLoad {
  readonly running: number
  readonly waiting: number
}

/** Sums over all streams, those that have left included. */
export interface StoredTotals {
  /** Streams that something is known of. */
  readonly streams: number
  readonly received: number
  readonly stored: number
  readonly duplicates: number
  readonly deleted: number
  readonly expired: number
  readonly unchanged: number
  /** Not stored, because a server did not take them. */
  readonly refused: number
  /** Kept, but not yet known to be new: they wait for each other, to be looked up together. */
  readonly late?: number
  /** Nothing in a store that rolls nothing up. */
  readonly rollups?: RollupTotals
}

/** What a store keeps so that queries need not read all readings of a stream. */
export interface RollupTotals {
  /** Streams that are rolled up. */
  readonly streams: number
  /** Stretches of time that are to be rolled up, and are answered from readings until then. */
  readonly marks: number
  /** Rows computed since the start. */
  readonly computed: number
}

/** Stores readings, each exactly once, and answers questions about them. */
export interface TimeSeriesStore extends RefusingStore, CopiedStore {
  readonly windows: WindowStore

  /** Nothing in a store that has on its disk what it has taken. */
  readonly durability?: StoreDurability

  /** Offset of the first journal entry that is not stored yet. */
  position(): Offset

  /**
   * Stores a shipment: rows, counts and position together or not at all. Exact duplicates
   * (decisions.md#identity-of-a-reading) are counted and not stored again.
   *
   * @throws Error when `from` is not the store's position: somebody else is shipping too.
   */
  write(shipment: Shipment): Promise<void>

  /**
   * Removes readings and counts them, in portions: of many, some are gone before the others. The
   * position moves with the last, so what a crash has cut off is done again from the start.
   *
   * @throws Error when `from` is not the store's position: somebody else is shipping too.
   */
  remove(removal: Removal): Promise<void>

  /**
   * Removes all that there is of streams that get no more: readings, windows, counts. Nothing names them
   * afterwards; what was counted of them stays a part of the totals. To be repeated when it fails.
   */
  removeStreams(streamIds: readonly string[]): Promise<void>

  /** Streams that anything is known of. */
  streamIds(): readonly string[]

  counts(streamId: string): StoredCounts

  /** Resolves when none that it has taken of a stream, or of all, waits to be looked up. */
  placeLate?(streamId?: string): Promise<void>

  /** Readings stored per second, averaged over about a minute. */
  storedPerSecond(streamId: string): number

  totals(): StoredTotals

  queries(): QueryLoad

  /** Names of all fields that readings of the stream have had, in whichever version, sorted. */
  fieldsOf(streamId: string): readonly string[]

  /**
   * The newest readings by (time, digest): what comes late moves nothing.
   *
   * @throws DomainError `overloaded`, `query_too_slow`
   */
  latest(query: LatestQuery): Promise<LatestPage>

  /** @throws DomainError `overloaded`, `query_too_slow` */
  query(query: ReadingsQuery): Promise<ReadingsPage>

  /** Column by column, where the store can and the fields are numbers. @throws DomainError as `query` */
  series?(query: SeriesQuery): Promise<SeriesPage | undefined>

  /** @throws DomainError `overloaded`, `query_too_slow`, `too_many_points` */
  aggregate(query: AggregateQuery): Promise<AggregatePage>

  /** All readings of one time, with when each came in. @throws DomainError as `query` */
  readingsAt(query: ReadingsAtQuery): Promise<ReadingsAt>

  /** For who goes on in the journal where the store ends. */
  history(query: HistoryQuery): Promise<HistoryPage>

  /** The place before the newest `count` readings, or before all when there are not so many. */
  placeBeforeNewest(streamId: string, count: number): Promise<ReadingsCursor>

  /**
   * Gives some free pages of a file of its own back to the disk, of one that does not do so by itself. Returns whether
   * there may be more.
   */
  giveBackSpace?(pagesMax: number): boolean

  /** Ends what waits for a server: nothing but `close` may follow. */
  interrupt?(): void

  close(): Promise<void>
}
