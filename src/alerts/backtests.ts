import { DomainError } from '../core/errors.ts'
import type { UserId } from '../core/ids.ts'
import { RemoteThread } from '../core/threads/remote-thread.ts'
import { Moved } from '../core/threads/rpc.ts'
import { startThread } from '../core/threads/start-thread.ts'
import { memoryOf, type SeriesPage, type SeriesQuery } from '../storage/time-series/series.ts'
import type { BacktestPlan, BacktestResult } from './backtest.ts'
import type { BacktestProcedures } from './backtest-thread.ts'

/** Readings of one backtest: some tens of megabytes go by, a page at a time. */
const readingsMax = 1_000_000

/** Readings that are read at once: copying them holds up the thread of the store for some ms. */
const pageReadingsMax = 32_768

/** How long one may take altogether: many rules with conditions over a million readings take longer. */
const backtestMs = 30_000

/** Backtests that run or wait: one runs at a time, so that they never take more than one core. */
const backtestsMax = 8

export interface BacktestsNeeds {
  /** @throws DomainError `store_unavailable`, `overloaded`, `query_too_slow` */
  readonly readSeries: (query: SeriesQuery) => Promise<SeriesPage>
}

export interface BacktestRequest {
  readonly userId: UserId
  readonly streamId: string
  readonly startUs: number
  readonly endUs: number
  readonly plan: BacktestPlan
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal
}

/** Runs backtests, one after the other, each in a thread of its own. */
export class Backtests {
  readonly #needs: BacktestsNeeds
  readonly #users = new Set<UserId>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(needs: BacktestsNeeds) {
    this.#needs = needs
  }

  /** Backtests that run or wait. */
  get open(): number {
    return this.#users.size
  }

  /**
   * @throws DomainError `rate_limited`, `overloaded`, `too_many_readings`, `query_too_slow`,
   *   `store_unavailable`
   */
  async run(request: BacktestRequest): Promise<BacktestResult> {
    this.#enter(request.userId)
    try {
      const result = this.#last.then(() => this.#runAlone(request))
      this.#last = result.catch(() => undefined)
      return await result
    } finally {
      this.#users.delete(request.userId)
    }
  }

  async #runAlone(request: BacktestRequest): Promise<BacktestResult> {
    const { startUs, endUs, streamId, plan } = request
    request.signal.throwIfAborted()
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(backtestMs)])
    const runner = new BacktestRunner()
    try {
      const query = { streamId, startUs, endUs, fields: plan.columns, limit: pageReadingsMax }
      let taken = awaitedLater(runner.begin(plan))
      let readings = 0
      let page: SeriesPage | undefined
      do {
        page = await this.#needs.readSeries({ ...query, after: page?.next })
        readings += page.timesUs.length
        if (readings > readingsMax) throw tooManyReadings()
        // One page is read while the one before is gone over.
        await taken
        assertInTime(signal)
        taken = awaitedLater(runner.take(page))
      } while (page.next !== undefined)
      await taken
      return await runner.finish(endUs)
    } finally {
      await runner.close()
    }
  }

  #enter(userId: UserId): void {
    if (this.#users.has(userId)) {
      throw new DomainError('rate_limited', 'a backtest of yours is running', { retryAfter: 1 })
    }
    if (this.#users.size >= backtestsMax) {
      throw new DomainError('overloaded', 'too many backtests are waiting', { retryAfter: 5 })
    }
    this.#users.add(userId)
  }
}

/** Nobody may be there to take its failure, when another one comes first. */
function awaitedLater(work: Promise<void>): Promise<void> {
  work.catch(() => undefined)
  return work
}

function assertInTime(signal: AbortSignal): void {
  if (!signal.aborted) return
  throw new DomainError(
    'query_too_slow',
    `the backtest took more than ${backtestMs / 1_000} s: try fewer rules, or less time`,
  )
}

function tooManyReadings(): DomainError {
  return new DomainError(
    'too_many_readings',
    `there are more than ${readingsMax} readings between start and end`,
  )
}

/** This thread's side of the one that runs the rules. */
class BacktestRunner {
  readonly #thread = new RemoteThread<BacktestProcedures>(
    startThread(import.meta.url, './backtest-thread', { workerData: undefined }),
  )

  async begin(plan: BacktestPlan): Promise<void> {
    await this.#thread.calls.begin(plan)
  }

  /** The memory of the page goes over to the thread. */
  async take(page: SeriesPage): Promise<void> {
    await this.#thread.calls.take(new Moved(page, memoryOf(page)))
  }

  async finish(endUs: number): Promise<BacktestResult> {
    return await this.#thread.calls.finish(endUs)
  }

  async close(): Promise<void> {
    await this.#thread.terminate()
  }
}
