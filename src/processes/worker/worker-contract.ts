import type { MessagePort } from 'node:worker_threads'
import type { StreamId, UserId } from '../../core/ids.ts'
import type { LogSettings } from '../../core/log-settings.ts'
import type { Moved } from '../../core/threads/rpc.ts'
import type { SealLedger } from '../../evidence/seals/seal-batches.ts'
import type { StreamPace } from '../../ingest/activity/activity.ts'
import type { OwnerActivity } from '../../ingest/activity/owner-activity.ts'
import type { DecidedTotals } from '../../ingest/pipeline/decision-store.ts'
import type { ProcessingStatus } from '../../operating/observability/processing-status.ts'
import type { WindowsPage } from '../../reading/windows/read-windows.ts'
import type { Offset } from '../../storage/journal/journal.ts'
import type { PlainChange } from '../../storage/state/database.ts'
import type { ResumedTime } from '../../storage/state/steady-time.ts'
import type { AggregatePage, AggregateQuery } from '../../storage/time-series/aggregate-query.ts'
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
} from '../../storage/time-series/readings-query.ts'
import type {
  RefusedReadingsPage,
  RefusedReadingsQuery,
} from '../../storage/time-series/refused-readings.ts'
import type { SeriesPage, SeriesQuery } from '../../storage/time-series/series.ts'
import type { StoreCopy } from '../../storage/time-series/store-copy.ts'
import type { StoredCounts } from '../../storage/time-series/time-series-store.ts'
import type { StoredWindowsQuery } from '../../storage/time-series/windows/window-store.ts'
import type { TextColumns, TextFormat } from '../../streams/data-streams/readings-text.ts'
import type { RemovedStream } from '../../streams/data-streams/stream-removal.ts'
import type { TimeSeriesPlace } from './open-time-series.ts'

/** What the worker thread is started with. */
export interface WorkerData {
  readonly statePath: string
  readonly timeSeries: TimeSeriesPlace
  readonly journalPath: string
  /** Tells of each new head of the journal. */
  readonly head: MessagePort
  /** Is told whose events were told. */
  readonly notified: MessagePort
  /** Where the thread that delivers hands in what became of deliveries. */
  readonly desk: MessagePort
  /** Where the thread that anchors hands in what became of anchors. */
  readonly anchorDesk: MessagePort
  /** Is told of timers of alerts that have run out. */
  readonly bell: MessagePort
  /** Is told when seals are to be anchored. */
  readonly sealed: MessagePort
  readonly seals: SealSettings
  readonly log: LogSettings
}

/** When and where stretches are sealed. */
export interface SealSettings {
  readonly graceUs: number
  readonly ledger: SealLedger
}

/** What the store knows of one stream. */
export interface StreamProgress {
  readonly counts: StoredCounts
  readonly storedPerSecond: number
}

export interface LinesRequest {
  readonly query: ReadingsQuery
  readonly format: TextFormat
  readonly columns: TextColumns
}

export interface ReadingsLines {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly rows: number
  readonly next: ReadingsCursor | undefined
}

interface NewestWish {
  readonly streamId: string
  readonly count: number
}

/** Questions about stored readings. Each may throw `store_unavailable`, `overloaded` or `query_too_slow`. */
export interface StoreProcedures {
  query(query: ReadingsQuery): Promise<ReadingsPage>
  /** A page of raw readings as text. */
  readLines(request: LinesRequest): Promise<Moved<ReadingsLines>>
  /** A page of raw readings, column by column. */
  readSeries(query: SeriesQuery): Promise<Moved<SeriesPage>>
  /** @throws DomainError `too_many_points` */
  aggregate(query: AggregateQuery): Promise<AggregatePage>
  /** The newest readings of some streams. */
  latest(query: LatestQuery): Promise<LatestPage>
  /** Windows as they are now, the open ones and those that are being revised included. */
  windows(query: StoredWindowsQuery): Promise<WindowsPage>
  history(query: HistoryQuery): Promise<HistoryPage>
  /** All readings of one time, with when each came in. */
  readingsAt(query: ReadingsAtQuery): Promise<ReadingsAt>
  placeBeforeNewest(wish: NewestWish): Promise<ReadingsCursor>
}

/** What the store has at hand, and how far it has come. */
export interface StoredProcedures {
  /** The fields that readings of a stream have had, by name. */
  fieldsOf(streamId: string): Promise<readonly string[]>
  progress(streamId: string): Promise<StreamProgress>
  /** Readings that the store did not take. */
  refusedReadings(query: RefusedReadingsQuery): Promise<RefusedReadingsPage>
  /** Resolves after a bounded wait, with whether no late reading of a stream, or of all, that the store has taken waits any more. */
  latePlaced(streamId: string | undefined): Promise<boolean>
}

/** What has come in of late: since the start of the service, and for two hours at most. */
export interface ActivityProcedures {
  pacesOf(streamIds: readonly StreamId[]): Promise<ReadonlyMap<StreamId, StreamPace>>
  /** Readings per second of the streams that most is received of now. */
  busiest(wish: {
    readonly ownerId: UserId
    readonly limit: number
  }): Promise<ReadonlyMap<StreamId, number>>
  activityOf(ownerId: UserId): Promise<OwnerActivity>
}

/** What is done for backups, and what must not be done meanwhile. */
export interface BackupPartProcedures {
  /** Removes the data of deleted streams; resolves with of how many: a consumer may have entries of the next one ahead. */
  removeStreams(streams: readonly RemovedStream[]): Promise<number>
  /** Resolves when no deleted stream is being removed; none is until `releaseRemovals`. */
  holdRemovals(): Promise<void>
  releaseRemovals(): Promise<void>
  /** Copies the time series into a folder; nothing is stored meanwhile, and nothing lost. */
  copyStore(folder: string): Promise<StoreCopy>
  /** Ends what the store does for a copy; resolves with why that is of no use, if so. */
  endCopy(): Promise<string | undefined>
  /** Ends the copy that is being made; it fails. */
  stopCopy(): void
}

/** Changes of the state, and what is asked of it by no connection of the asker. */
export interface StateProcedures {
  /** @throws DomainError `data_folder_gone` when the file that has taken it is not at its path any more */
  commit(changes: readonly PlainChange[]): Promise<void>
  /** @throws DomainError `data_folder_gone` */
  attempt(changes: readonly PlainChange[]): Promise<boolean>
  /** Looks soon for data that is too old, as what is kept may have changed. */
  wakeRetention(): Promise<void>
  decidedTotals(): Promise<DecidedTotals>
}

/** What other threads may ask of the worker. */
export interface WorkerProcedures
  extends StoreProcedures,
    StoredProcedures,
    ActivityProcedures,
    BackupPartProcedures,
    StateProcedures {
  /** Resolves when the state is open, with the steady time that goes on. */
  steadyTime(): Promise<ResumedTime>
  /** Resolves when state and store are open; the journal may still be opening. */
  ready(): Promise<void>
  /** Begins to follow the journal, whose file must be there by now. */
  start(): Promise<void>
  /** Resolves with whether the decider has passed the offset, after a bounded wait. */
  decided(offset: Offset): Promise<boolean>
  /** Resolves with whether the shipper has passed the offset, after a bounded wait. */
  stored(offset: Offset): Promise<boolean>
  status(): Promise<ProcessingStatus>
  /** Ends the round under way, and closes state and store. */
  stop(): Promise<void>
}
