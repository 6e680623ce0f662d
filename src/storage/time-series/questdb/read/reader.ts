import { DomainError } from '../../../../core/errors.ts'
import type { AggregatePage, AggregateQuery } from '../../aggregate-query.ts'
import { aggregatePage } from '../../aggregation/aggregate.ts'
import { type QueryLimits, QueryTurns } from '../../query-turns.ts'
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
} from '../../readings-query.ts'
import type { QueryLoad } from '../../time-series-store.ts'
import { QuestDbAnswerTooLarge, QuestDbAway, type QuestDbConnection } from '../connection.ts'
import { ReadingsLost, RepetitionPending } from '../durability.ts'
import { QuestDbSuspended } from '../unapplied.ts'
import { QuestDbPointReader } from './aggregation/point-reader.ts'
import { type Selection, select } from './aggregation/selection.ts'
import { splitSelection } from './aggregation/split-selection.ts'
import { placeBeforeNewest, readHistory } from './history.ts'
import { newestTimes, readLatest } from './latest.ts'
import { needsTooMuchMemory } from './memory-limits.ts'
import { readRaw } from './raw-readings.ts'
import { readingsAt } from './readings-at.ts'
import { type AppliedStore, inSession, type ReadSession, type Stored } from './session.ts'

/**
 * Queries that ask the server at a time, so that they leave something of it to who writes; how many wait;
 * and how long one may take. A statement that nobody waits for any more is ended by the server.
 */
const questDbQueryLimits: QueryLimits = { atOnce: 4, waitingMax: 64, ms: 10_000 }

/** When an answer is worth another try, in seconds. */
const retryAfter = 5

export interface QuestDbReaderNeeds {
  readonly connection: QuestDbConnection
  readonly stored: AppliedStore
  readonly limits?: QueryLimits
}

/** Answers questions about readings. All of an answer is what was stored at one position. */
export class QuestDbReader {
  readonly #needs: QuestDbReaderNeeds
  readonly #limits: QueryLimits
  readonly #turns: QueryTurns
  readonly #closing = new AbortController()

  constructor(needs: QuestDbReaderNeeds) {
    this.#needs = needs
    this.#limits = needs.limits ?? questDbQueryLimits
    this.#turns = new QueryTurns(this.#limits)
  }

  queries(): QueryLoad {
    const { running, waiting } = this.#turns
    return { running, waiting }
  }

  async query(query: ReadingsQuery): Promise<ReadingsPage> {
    return await this.#read(nothing, (session) => readRaw(session, query))
  }

  async latest(query: LatestQuery): Promise<LatestPage> {
    return await this.#read(
      (stored) => newestTimes(stored, query),
      (session, wanted) => readLatest(session, query, wanted),
    )
  }

  async aggregate(query: AggregateQuery): Promise<AggregatePage> {
    return await this.#read(
      (stored) => select(stored, query),
      async (session, selection) => await aggregatedPage(session, selection),
    )
  }

  async readingsAt(query: ReadingsAtQuery): Promise<ReadingsAt> {
    return await this.#read(nothing, (session) => readingsAt(session, query))
  }

  async history(query: HistoryQuery): Promise<HistoryPage> {
    return await this.#read(nothing, (session) => readHistory(session, query))
  }

  async placeBeforeNewest(streamId: string, count: number): Promise<ReadingsCursor> {
    return await this.#read(nothing, (session) => placeBeforeNewest(session, { streamId, count }))
  }

  /** Ends what is being answered. */
  close(): void {
    this.#closing.abort(new Error('the time-series store is closed'))
  }

  async #read<Prepared, Result>(
    prepare: (stored: Stored) => Prepared,
    work: (session: ReadSession, prepared: Prepared) => Promise<Result>,
  ): Promise<Result> {
    return await this.#turns.take(async () => {
      this.#closing.signal.throwIfAborted()
      const deadline = AbortSignal.timeout(this.#limits.ms)
      const signal = AbortSignal.any([deadline, this.#closing.signal])
      const { connection, stored } = this.#needs
      try {
        return await inSession({ connection, stored, signal }, prepare, work)
      } catch (error) {
        if (this.#closing.signal.aborted) throw error
        throw this.#failureOf(error, deadline)
      }
    })
  }

  #failureOf(error: unknown, deadline: AbortSignal): unknown {
    if (deadline.aborted) {
      const message = `the query takes longer than ${this.#limits.ms / 1_000} s`
      return new DomainError('query_too_slow', message)
    }
    if (error instanceof QuestDbAnswerTooLarge) return needsTooMuchMemory()
    const message = unavailability(error)
    if (message === undefined) return error
    return new DomainError('store_unavailable', message, { retryAfter, cause: error })
  }
}

async function aggregatedPage(session: ReadSession, selection: Selection): Promise<AggregatePage> {
  const { split } = selection
  const asked = split ? await splitSelection(session, selection, split) : selection
  if (split && asked.query.series.length === 0) return { points: [], next: undefined }
  return await aggregatePage(await QuestDbPointReader.open(session, asked))
}

/** What an answer says while readings cannot be read: what addresses, tables and files say is for the log. */
function unavailability(error: unknown): string | undefined {
  if (error instanceof QuestDbAway) return 'the time-series store cannot be asked at the moment'
  if (error instanceof ReadingsLost)
    return 'the time-series store has lost readings, which its operator has to put back'
  if (error instanceof QuestDbSuspended) {
    return 'QuestDB has suspended a table: its readings cannot be read until it goes on'
  }
  return error instanceof RepetitionPending ? error.message : undefined
}

function nothing(): void {}
