import { setTimeout as sleep } from 'node:timers/promises'
import { AgeClock } from '../../core/age-clock.ts'
import { type Clocks, monotonicMs } from '../../core/clock.ts'
import { durationUs } from '../../core/duration.ts'
import { race } from '../../core/race.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { ExpiringStore, Expiry } from '../../storage/time-series/expiry.ts'
import type { StoredTotals } from '../../storage/time-series/time-series-store.ts'
import type { WindowStore } from '../../storage/time-series/windows/window-store.ts'
import { firstKept, type KeptStream, keptStreams } from './retention-store.ts'

/** How often it is looked for what is too old. */
const everyMs = 60_000

/** However often it is woken, passes take at most this share of the time, and begin a second apart. */
const shareMax = 0.1
const restMsMin = 1_000

/** A rest after each portion of results is so many times as long: others write meanwhile. */
const restsPerPortion = 2

/** Streams that are read from the state at once, which is a moment in which nobody else can write to it. */
const streamsPerPage = 1_000

/** Streams that go into the store together: each of its tables is looked at once for all of them. */
const streamsTogether = 20_000

const hourUs = 3_600_000_000
const dayUs = 24 * hourUs

/**
 * Times are rounded down to whole hours, for what is kept for a day or longer, else to whole minutes: so the
 * streams of a table expire together, and once an hour.
 */
function roundingUs(kept: number): number {
  return kept >= dayUs ? hourUs : 60_000_000
}

/** What a stream keeps of its readings begins at this time. Undefined when that is everything. */
export function expiryOf({ streamId, raw }: KeptStream, nowUs: number): Expiry | undefined {
  return expiryAfter(streamId, raw, nowUs)
}

/** What a stream keeps of the results of its windows begins at this time. */
function resultsExpiryOf({ streamId, aggregated }: KeptStream, nowUs: number): Expiry | undefined {
  return expiryAfter(streamId, aggregated, nowUs)
}

function expiryAfter(streamId: string, text: string | null, nowUs: number): Expiry | undefined {
  const kept = durationUs(text)
  if (kept === undefined) return undefined
  const rounding = roundingUs(kept)
  const beforeUs = Math.floor((nowUs - kept) / rounding) * rounding
  return beforeUs > 0 ? { streamId, beforeUs } : undefined
}

function noteKept(kept: Map<string, number>, { streamId, raw }: KeptStream): void {
  const us = durationUs(raw)
  if (us !== undefined) kept.set(streamId, us)
}

export interface RetentionStatus {
  readonly isRunning: boolean
  readonly passes: number
  readonly failures: number
  /** Streams that the last whole pass has found with a retention. */
  readonly streams: number
}

export interface RetentionScheduleNeeds {
  readonly state: StateDatabase
  readonly store: ExpiringStore & {
    totals(): Pick<StoredTotals, 'expired'>
    readonly windows: Pick<WindowStore, 'expire'>
  }
  readonly clock: Clocks
  readonly logger: {
    info(facts: object, message: string): void
    error(facts: object, message: string): void
  }
}

/** Removes data that is older than it is to be kept, once a minute and when it is woken. */
export class RetentionSchedule {
  readonly #needs: RetentionScheduleNeeds
  readonly #ages: AgeClock
  readonly #stopping = new AbortController()
  #woken = Promise.withResolvers<void>()
  #running: Promise<void> | undefined
  #isPassing = false
  #wasWoken = false
  #resultsHour = -1
  #passes = 0
  #failures = 0
  #streams = 0

  constructor(needs: RetentionScheduleNeeds) {
    this.#needs = needs
    this.#ages = new AgeClock(needs.clock)
  }

  status(): RetentionStatus {
    const [isRunning, passes] = [this.#isPassing, this.#passes]
    return { isRunning, passes, failures: this.#failures, streams: this.#streams }
  }

  start(): void {
    this.#running ??= this.#run()
  }

  /** Begins a pass soon, also when one is under way that may have been there already. */
  wake(): void {
    this.#wasWoken = true
    this.#woken.resolve()
  }

  /** Ends the pass under way at the next portion; it is begun anew after the next start. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#woken.resolve()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers()
      const startedMs = monotonicMs()
      await this.#passOrLog()
      const tookMs = monotonicMs() - startedMs
      await pause(Math.max(restMsMin, tookMs / shareMax - tookMs), signal)
      const due = new AbortController()
      await race([this.#woken.promise, pause(everyMs, AbortSignal.any([signal, due.signal]))])
      due.abort()
    }
  }

  async #passOrLog(): Promise<void> {
    const { store, logger } = this.#needs
    const startedMs = monotonicMs()
    const before = store.totals().expired
    this.#isPassing = true
    try {
      await this.#pass()
      this.#passes++
    } catch (error) {
      this.#failures++
      logger.error({ err: error }, 'removing data that is too old failed, and is tried again')
    } finally {
      this.#isPassing = false
    }
    const readings = store.totals().expired - before
    if (readings === 0) return
    const ms = Math.round(monotonicMs() - startedMs)
    logger.info({ readings, streams: this.#streams, ms }, 'data that was too old is removed')
  }

  async #pass(): Promise<void> {
    const { store } = this.#needs
    const { signal } = this.#stopping
    const nowUs = this.#ages.nowUs()
    const isResultsTurn = this.#isResultsTurn(nowUs)
    const kept = new Map<string, number>()
    let streams = 0
    for await (const together of this.#kept()) {
      if (signal.aborted) return
      streams += together.length
      const expiries = together.flatMap((stream) => expiryOf(stream, nowUs) ?? [])
      if (expiries.length > 0) await store.expire(expiries, signal)
      const results = together.flatMap((stream) => resultsExpiryOf(stream, nowUs) ?? [])
      if (isResultsTurn && results.length > 0) await this.#expireResults(results)
      if (store.arrange) for (const stream of together) noteKept(kept, stream)
    }
    await store.arrange?.(kept)
    this.#streams = streams
  }

  /** Their tables are looked through as a whole: once an hour, and when somebody has changed something. */
  #isResultsTurn(nowUs: number): boolean {
    const hour = Math.floor(nowUs / hourUs)
    const isTurn = this.#wasWoken || hour !== this.#resultsHour
    this.#resultsHour = hour
    this.#wasWoken = false
    return isTurn
  }

  async #expireResults(expiries: readonly Expiry[]): Promise<void> {
    const { signal } = this.#stopping
    let isMoreLeft = true
    while (isMoreLeft && !signal.aborted) {
      const startedMs = monotonicMs()
      isMoreLeft = await this.#needs.store.windows.expire(expiries)
      await pause((monotonicMs() - startedMs) * restsPerPortion, signal)
    }
  }

  /** All streams with a retention. */
  async *#kept(): AsyncGenerator<readonly KeptStream[]> {
    const found = new Map<string, KeptStream>()
    let after: typeof firstKept | undefined = firstKept
    while (after !== undefined) {
      const page: Awaited<ReturnType<typeof keptStreams>> = await keptStreams(
        this.#needs.state,
        after,
        streamsPerPage,
      )
      // One that has got a retention of its own meanwhile may stand in both lists.
      for (const stream of page.streams) found.set(stream.streamId, stream)
      after = page.next
      if (found.size < streamsTogether && after !== undefined) continue
      yield [...found.values()]
      found.clear()
    }
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}
