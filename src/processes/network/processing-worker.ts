import type { MessagePort, Worker } from 'node:worker_threads'
import type { Compilable } from 'kysely'
import { DomainError } from '../../core/errors.ts'
import { Caller, RemoteError } from '../../core/threads/rpc.ts'
import { startThread, threadFailure } from '../../core/threads/start-thread.ts'
import type { DecidedTotals } from '../../ingest/pipeline/decision-store.ts'
import type { WindowsPage } from '../../reading/windows/read-windows.ts'
import type { Offset } from '../../storage/journal/journal.ts'
import { plain, type StateWriter } from '../../storage/state/database.ts'
import type { ResumedTime } from '../../storage/state/steady-time.ts'
import type { AggregatePage, AggregateQuery } from '../../storage/time-series/aggregate-query.ts'
import type {
  RefusedReadingsPage,
  RefusedReadingsQuery,
} from '../../storage/time-series/refused-readings.ts'
import type { SeriesPage, SeriesQuery } from '../../storage/time-series/series.ts'
import type { StoreCopy } from '../../storage/time-series/store-copy.ts'
import type {
  HistoryPage,
  HistoryQuery,
  LatestPage,
  LatestQuery,
  ReadingsCursor,
  ReadingsPage,
  ReadingsQuery,
} from '../../storage/time-series/time-series-store.ts'
import type { StoredWindowsQuery } from '../../storage/time-series/windows/window-store.ts'
import type { RemovedStream } from '../../streams/data-streams/stream-removal.ts'
import type {
  LinesRequest,
  ProcessingStatus,
  ReadingsLines,
  StreamProgress,
  WorkerData,
  WorkerProcedures,
} from '../worker/worker.ts'

/** The network thread's side of the worker: state changes, queries, and how far it has come. */
export class ProcessingWorker implements StateWriter {
  readonly #thread: Worker
  readonly #caller: Caller<WorkerProcedures>
  /** Rejects when the thread ends by an error of its own. */
  readonly failed: Promise<never>

  constructor(data: WorkerData) {
    this.#thread = startThread(import.meta.url, '../worker/worker', {
      workerData: data,
      transferList: [data.head, data.told, data.desk, data.bell],
    })
    this.#caller = new Caller<WorkerProcedures>(this.#thread as unknown as MessagePort)
    this.failed = threadFailure(this.#thread)
    this.#thread.once('exit', () => this.#caller.close())
  }

  /** Resolves when the state is open, with the steady time that goes on. */
  async steadyTime(): Promise<ResumedTime> {
    return await Promise.race([this.#caller.call('steadyTime', undefined as never), this.failed])
  }

  /** Resolves when state and store are open. */
  async ready(): Promise<void> {
    await Promise.race([this.#call('ready'), this.failed])
  }

  /** Begins to follow the journal, whose file must be there by now. */
  async start(): Promise<void> {
    await this.#call('start')
  }

  async commit(...changes: readonly Compilable[]): Promise<void> {
    await this.#caller.call('commit', changes.map(plain))
  }

  async attempt(...changes: readonly Compilable[]): Promise<boolean> {
    return await this.#caller.call('attempt', changes.map(plain))
  }

  /** @throws DomainError `store_unavailable`, `overloaded`, `query_too_slow` */
  async query(query: ReadingsQuery): Promise<ReadingsPage> {
    return await fromStore(this.#caller.call('query', query))
  }

  /** A page of raw readings as text. @throws DomainError `store_unavailable` */
  async readLines(request: LinesRequest): Promise<ReadingsLines> {
    return await fromStore(this.#caller.call('readLines', request))
  }

  /** A page of raw readings, column by column. @throws DomainError as `query` */
  async readSeries(query: SeriesQuery): Promise<SeriesPage> {
    return await fromStore(this.#caller.call('readSeries', query))
  }

  /** The fields that readings of a stream have had, by name. */
  async fieldsOf(streamId: string): Promise<readonly string[]> {
    return await this.#caller.call('fieldsOf', streamId)
  }

  /** @throws DomainError `store_unavailable`, `overloaded`, `query_too_slow`, `too_many_points` */
  async aggregate(query: AggregateQuery): Promise<AggregatePage> {
    return await fromStore(this.#caller.call('aggregate', query))
  }

  /** The newest readings of some streams. @throws DomainError as `query` */
  async latest(query: LatestQuery): Promise<LatestPage> {
    return await fromStore(this.#caller.call('latest', query))
  }

  /** Windows as they are now. @throws DomainError as `query` */
  async windows(query: StoredWindowsQuery): Promise<WindowsPage> {
    return await fromStore(this.#caller.call('windows', query))
  }

  /** @throws DomainError `store_unavailable` */
  async history(query: HistoryQuery): Promise<HistoryPage> {
    return await fromStore(this.#caller.call('history', query))
  }

  /** @throws DomainError `store_unavailable` */
  async placeBeforeNewest(streamId: string, count: number): Promise<ReadingsCursor> {
    return await fromStore(this.#caller.call('placeBeforeNewest', { streamId, count }))
  }

  /** Readings that the store did not take. */
  async refusedReadings(query: RefusedReadingsQuery): Promise<RefusedReadingsPage> {
    return await this.#caller.call('refusedReadings', query)
  }

  async progress(streamId: string): Promise<StreamProgress> {
    return await this.#caller.call('progress', streamId)
  }

  /** Resolves with whether the decider has passed the offset, after a bounded wait. */
  async decided(offset: Offset): Promise<boolean> {
    return await this.#caller.call('decided', offset)
  }

  /** Resolves with whether the shipper has passed the offset, after a bounded wait. */
  async stored(offset: Offset): Promise<boolean> {
    return await this.#caller.call('stored', offset)
  }

  /** And whether late readings of a stream, or of all, that were stored are looked up. */
  async settled(streamId: string | undefined): Promise<boolean> {
    return await this.#caller.call('settled', streamId)
  }

  /** Removes the data of deleted streams; resolves with of how many: a consumer may have entries of the next one ahead. */
  async removeStreams(streams: readonly RemovedStream[]): Promise<number> {
    return await this.#caller.call('removeStreams', streams)
  }

  async holdRemovals(): Promise<void> {
    await this.#call('holdRemovals')
  }

  async releaseRemovals(): Promise<void> {
    await this.#call('releaseRemovals')
  }

  /** Copies the time series into a folder; nothing is stored meanwhile, and nothing lost. */
  async copyStore(folder: string): Promise<StoreCopy> {
    return await this.#caller.call('copyStore', folder)
  }

  /** Resolves with why the copy is of no use, if so. */
  async endCopy(): Promise<string | undefined> {
    return await this.#caller.call('endCopy', undefined)
  }

  async stopCopy(): Promise<void> {
    await this.#call('stopCopy')
  }

  /** Has it looked for data that is too old, as what is kept may have changed. */
  wakeRetention(): void {
    // When the worker is gone, nobody has to look.
    this.#call('wakeRetention').catch(() => undefined)
  }

  async status(): Promise<ProcessingStatus> {
    return await this.#call('status')
  }

  async decidedTotals(): Promise<DecidedTotals> {
    return await this.#call('decidedTotals')
  }

  /** Ends the round under way, closes state and store, and ends the thread. */
  async stop(): Promise<void> {
    await this.#call('stop')
    await this.#thread.terminate()
  }

  async #call<Name extends NameWithoutArgument>(name: Name) {
    return await this.#caller.call(name, undefined as never)
  }
}

type NameWithoutArgument =
  | 'ready'
  | 'start'
  | 'status'
  | 'decidedTotals'
  | 'holdRemovals'
  | 'releaseRemovals'
  | 'stopCopy'
  | 'wakeRetention'
  | 'stop'

/** @throws DomainError `store_unavailable` when the store has failed */
async function fromStore<Result>(answer: Promise<Result>): Promise<Result> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error
    throw new DomainError('store_unavailable', 'the time-series store did not answer', {
      cause: error,
      retryAfter: 1,
    })
  }
}
