import type { SourceRound } from '../../contracts/fetch-connector.ts'
import { monotonicMs } from '../../core/clock.ts'
import type { SourceStatus } from '../data-streams/stream-sources.ts'
import { unreachableRemedy } from './failure-remedy.ts'

/** A source that ran for so long has not failed in a row. */
const stableMs = 10_000

/** Time after which somebody should look at a failure. */
const lastingMs = 60_000

const silent = 'for more than a minute nothing was received that would let it begin, and no error'

interface SourceFailure {
  readonly error: string
  /** Whether it stays until somebody changes something. */
  readonly isRefused: boolean
  /** What to do about it, as a sentence. */
  readonly remedy: string
}

/** What one source is doing, and has done since the start of the service. */
export class SourceState {
  readonly #nowUs: () => number
  #state: SourceStatus['state'] = 'paused'
  #sinceUs: number
  /** Start of the state by the monotonic clock. */
  #sinceMs = monotonicMs()
  #failure: SourceFailure | undefined
  /** What the other side has us wait for. */
  #heldUp: string | undefined
  #retries = 0
  #connections = 0
  #messages = 0
  #skipped = 0
  #lastMessageAtUs: number | undefined
  #unacknowledged = 0
  /**
   * Time when the next round of a source that is asked from time to time is due, or the one under
   * way was.
   */
  #dueAtUs: number | undefined
  readonly #rounds = { count: 0, overlapped: 0, missed: 0 }
  #lastRound: SourceStatus['lastRound']

  constructor(nowUs: () => number) {
    this.#nowUs = nowUs
    this.#sinceUs = nowUs()
  }

  get isRunning(): boolean {
    return this.#state !== 'paused'
  }

  /** How often the source was reached. */
  get connections(): number {
    return this.#connections
  }

  /** Failures in a row. */
  get retries(): number {
    return this.#retries
  }

  get status(): SourceStatus {
    const nowUs = this.#nowUs()
    const isFailing = this.#state === 'failing'
    const isLong = monotonicMs() - this.#sinceMs >= lastingMs
    const silence = this.#silence(isLong)
    const silenceRemedy = silence === undefined ? undefined : unreachableRemedy
    const isDue = this.#dueAtUs !== undefined && this.isRunning
    return {
      state: this.#state,
      sinceUs: this.#sinceUs,
      lastError: this.#heldUp ?? this.#failure?.error ?? silence,
      remedy: this.#heldUp === undefined ? (this.#failure?.remedy ?? silenceRemedy) : undefined,
      retries: this.#retries,
      messages: this.#messages,
      skipped: this.#skipped,
      lastMessageAtUs: this.#lastMessageAtUs,
      unacknowledged: this.#unacknowledged,
      isLasting: isFailing && (this.#failure?.isRefused === true || isLong),
      rounds: this.#dueAtUs === undefined ? undefined : { ...this.#rounds },
      lastRound: this.#lastRound,
      nextRoundAtUs: isDue ? this.#dueAtUs : undefined,
      lagUs: isDue ? Math.max(0, nowUs - (this.#dueAtUs as number)) : undefined,
    }
  }

  skipped(messages: number): void {
    this.#skipped += messages
  }

  /** @param reason without secrets */
  heldUp(reason: string): void {
    this.#heldUp = reason
  }

  started(): void {
    this.#retries = 0
    this.#enter('connecting')
  }

  stopped(): void {
    this.#enter('paused')
  }

  reached(): void {
    this.#connections++
    this.#enter('running')
  }

  waiting(dueAtUs: number): void {
    this.#dueAtUs = dueAtUs
    if (this.#state !== 'waiting') this.#enter('waiting')
  }

  roundEnded({ dueAtUs, startedAtUs, overlapped, missed }: SourceRound): void {
    this.#rounds.count++
    this.#rounds.overlapped += overlapped
    this.#rounds.missed += missed
    this.#lastRound = { dueAtUs, startedAtUs, endedAtUs: this.#nowUs() }
    this.#retries = 0
  }

  /** @param error without secrets */
  failed(error: string, { isRefused, remedy }: Omit<SourceFailure, 'error'>): void {
    const wasRunning = this.#state === 'running'
    if (wasRunning && monotonicMs() - this.#sinceMs >= stableMs) this.#retries = 0
    this.#retries++
    this.#failure = { error, isRefused, remedy }
    this.#heldUp = undefined
    if (this.#state !== 'failing') this.#enter('failing')
  }

  /** Counts messages that are on their way to the disk until they are there, or not. */
  async accepting<Outcome extends { readonly receivedAtUs: number }>(
    count: number,
    accepted: Promise<readonly Outcome[]>,
  ): Promise<readonly Outcome[]> {
    this.#unacknowledged += count
    try {
      const outcomes = await accepted
      this.#messages += count
      this.#lastMessageAtUs = outcomes.at(-1)?.receivedAtUs ?? this.#lastMessageAtUs
      return outcomes
    } finally {
      this.#unacknowledged -= count
    }
  }

  /**
   * Describes the long wait of a source that has not failed, for an other side that says nothing.
   */
  #silence(isLong: boolean): string | undefined {
    return this.#state === 'connecting' && isLong ? silent : undefined
  }

  #enter(state: SourceStatus['state']): void {
    this.#heldUp = undefined
    this.#state = state
    this.#sinceUs = this.#nowUs()
    this.#sinceMs = monotonicMs()
  }
}
