import type { Offset } from '../journal/journal.ts'
import type { AggregatePage, AggregateQuery } from './aggregate-query.ts'
import type { RefusingStore } from './refused-readings.ts'
import type { SeriesPage, SeriesQuery } from './series.ts'
import type { CopiedStore } from './store-copy.ts'
import type { StoreDurability } from './store-durability.ts'
import type { WindowStore, WindowVersion } from './windows/window-store.ts'

/** How a field is stored: the storage type of its column. */
export type ColumnType = 'double' | 'bigint' | 'boolean' | 'varchar' | 'timestamp' | 'json'

export interface Column {
  readonly name: string
  readonly type: ColumnType
}

/** Field names and storage types of a schema, by name: streams of one shape share tables. */
export interface Shape {
  readonly id: string
  readonly columns: readonly Column[]
}

/** One reading on its way into the store. */
export interface ShippedReading {
  readonly streamId: string
  readonly shape: Shape
  /** Where its entry stands in the journal. */
  readonly offset: Offset
  readonly timestampUs: number
  readonly receivedAtUs: number
  readonly digest: bigint
  /** Canonical JSON of the declared fields. */
  readonly values: string
  readonly extra: string | undefined
  readonly flagged: readonly string[]
  /** Who sent it, of a stream that has several senders; with a colon before it, what it was known by in a file. */
  readonly sender?: string | undefined
}

/** What one stretch of the journal brings to the store. */
export interface Shipment {
  /** Each an object of its own. */
  readonly readings: readonly ShippedReading[]
  /**
   * Readings of these that have waited in the quarantine or come out of a file: how long they took
   * says nothing about the service.
   */
  readonly redriven?: ReadonlySet<ShippedReading>
  /**
   * Readings of streams that drop what is unchanged (decisions.md#readings-that-are-unchanged),
   * each with the length of the windows, in microseconds of event time, in each of which one is
   * kept all the same.
   */
  readonly deduplicated?: ReadonlyMap<ShippedReading, number>
  /**
   * What versions of streams say about windows, by the first reading of each. It is kept, and need not be
   * told again with later readings of the version.
   */
  readonly windows?: ReadonlyMap<ShippedReading, WindowVersion>
  /** Readings received in the stretch by stream, quarantined ones included; 0 for redriven ones only. */
  readonly received: ReadonlyMap<string, number>
  /** Bytes of the stretch in the journal, about. */
  readonly bytes?: number
  /** The stretch: the first offset after it becomes the shipper's position. */
  readonly from: Offset
  readonly nextOffset: Offset
}

/** What a person has removed: the readings of a stream in [startUs, endUs) that came before. */
export interface Removal {
  readonly streamId: string
  readonly startUs: number
  readonly endUs: number
  /** The place in the journal: the first offset after it becomes the shipper's position. */
  readonly from: Offset
  readonly nextOffset: Offset
}

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

/** Readings of a stream that are not kept any longer: those from before a time. */
export interface Expiry {
  readonly streamId: string
  readonly beforeUs: number
}

/** A page of a stream's readings as they were sent, in ascending time. */
export interface ReadingsQuery {
  readonly streamId: string
  /** [startUs, endUs): half open. */
  readonly startUs: number
  readonly endUs: number
  /** Only these fields; all when empty. */
  readonly fields: readonly string[]
  readonly limit: number
  /** A page ends before it has more than this, but for one reading alone. */
  readonly bytesMax: number
  /** Where the page before ended. */
  readonly after: ReadingsCursor | undefined
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

/** One reading. */
export interface DataPoint {
  readonly timestampUs: number
  readonly values: Readonly<Record<string, unknown>>
  readonly extra?: Readonly<Record<string, unknown>>
  readonly flagged?: readonly string[]
  /** The digest that it is known by among readings of its time, where it is read as it is. */
  readonly digest?: bigint
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

/** What removes readings that are too old, besides everything else. */
export interface ExpiringStore {
  /**
   * Removes what is older than it is to be kept, and counts it as expired. It goes in portions, each with
   * its count in one transaction, and rests in between, so that shipments go on. Each stream stands
   * in it once. To be repeated when it fails, or was ended by the signal; what has come late since is
   * left for the next time.
   */
  expire(expiries: readonly Expiry[], signal: AbortSignal): Promise<void>

  /**
   * Is told for how long all streams keep their readings, in microseconds; those that are not named keep everything. For a
   * store that keeps those apart that go at about the same time.
   */
  arrange?(kept: ReadonlyMap<string, number>): Promise<void>
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
