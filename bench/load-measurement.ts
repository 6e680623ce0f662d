import { LatencyHistogram, type LatencySummary } from './latency-histogram.ts'

const MAX_DISTINCT_ERRORS = 20

/** What every load generator reports; one message is one reading. */
export type LoadResult = {
  /** Measured messages (due in the measured window) that were acknowledged, even if late. */
  acknowledged: number
  /** Length of the measured window; shorter than asked for when every connection was lost. */
  seconds: number
  /** Acknowledgements that arrived inside the measured window, per second of it. */
  perSecond: number
  /** A message that was never acknowledged counts with the time it had waited when the run ended. */
  latencyUs: LatencySummary
  /** Measured messages that were sent. */
  sent: number
  unacknowledged: number
  /** Acknowledgements overtaken by one for a later message of the same connection, whole run. */
  outOfOrder: number
  /** The whole run with its warm-up: what to compare with the number of readings stored. */
  totals: { sent: number; acknowledged: number }
  /** Processor time this process used from the start of the warm-up to the end. */
  generatorCpuSeconds: number
  /** Distinct errors, with how often each happened. */
  errors: string[]
}

/** How long a run warms up and measures, in seconds. */
export type LoadTiming = { warmupSeconds: number; seconds: number }

/** The timestamps of the readings begin here, in microseconds since 1970, and follow the clock. */
export type PayloadOptions = { startUs: number }

/** The counters of one run. Times are `performance.now()` milliseconds unless named otherwise. */
export class Measurement {
  readonly latency = new LatencyHistogram()
  outOfOrder = 0
  #beginMs = Infinity
  #startMs = Infinity
  #endMs = Infinity
  #startUs = 0
  #cpuAtBegin = process.cpuUsage()
  #sent = 0
  #acknowledged = 0
  #acknowledgedInWindow = 0
  readonly #totals = { sent: 0, acknowledged: 0 }
  readonly #errors = new Map<string, number>()

  /** Starts the warm-up now; without `payload` the readings carry the wall clock. */
  begin(timing: LoadTiming, payload: PayloadOptions | undefined): void {
    this.#beginMs = performance.now()
    this.#startUs = payload?.startUs ?? Date.now() * 1000
    this.#startMs = this.#beginMs + timing.warmupSeconds * 1000
    this.#endMs = this.#startMs + timing.seconds * 1000
    this.#cpuAtBegin = process.cpuUsage()
  }

  /** When the warm-up began; Infinity before: some connections are accepted before others. */
  get beginMs(): number {
    return this.#beginMs
  }

  /** When the measured window ends; nothing is due after it. */
  get endMs(): number {
    return this.#endMs
  }

  /** The timestamp for a reading made at `nowMs`, in microseconds since 1970. */
  readingUs(nowMs: number): number {
    return this.#startUs + (nowMs - this.#beginMs) * 1000
  }

  isMeasured(dueMs: number): boolean {
    return dueMs >= this.#startMs && dueMs < this.#endMs
  }

  /** Counts `messages` that were due together, e.g. one request's batch. */
  recordSent(dueMs: number, messages: number): void {
    this.#totals.sent += messages
    if (this.isMeasured(dueMs)) this.#sent += messages
  }

  /** Counts the acknowledgement at `nowMs` of `messages` that were due at `dueMs`. */
  recordAcknowledged(dueMs: number, nowMs: number, messages: number): void {
    this.#totals.acknowledged += messages
    if (this.isMeasured(nowMs)) this.#acknowledgedInWindow += messages
    if (!this.isMeasured(dueMs)) return
    this.#acknowledged += messages
    this.latency.record((nowMs - dueMs) * 1000)
  }

  /**
   * Counts a message that got no answer by the end with the time it had waited: leaving it out
   * would make a stalled service look faster than a slow one.
   */
  recordUnanswered(dueMs: number, nowMs: number): void {
    if (this.isMeasured(dueMs)) this.latency.record((nowMs - dueMs) * 1000)
  }

  recordError(message: string): void {
    const key = this.#errors.size < MAX_DISTINCT_ERRORS ? message : 'further errors'
    const known = this.#errors.has(message) ? message : key
    this.#errors.set(known, (this.#errors.get(known) ?? 0) + 1)
  }

  /** The result; `endedMs` shortens the window when the run ended before it. */
  result(endedMs: number): LoadResult {
    const windowMs = Math.max(0, Math.min(this.#endMs, endedMs) - this.#startMs)
    const seconds = Math.round(windowMs * 1000) / 1_000_000
    const cpu = process.cpuUsage(this.#cpuAtBegin)
    return {
      acknowledged: this.#acknowledged,
      seconds,
      perSecond: seconds > 0 ? this.#acknowledgedInWindow / seconds : 0,
      latencyUs: this.latency.summary(),
      sent: this.#sent,
      unacknowledged: this.#sent - this.#acknowledged,
      outOfOrder: this.outOfOrder,
      totals: { ...this.#totals },
      generatorCpuSeconds: (cpu.user + cpu.system) / 1_000_000,
      errors: [...this.#errors].map(([text, times]) => (times > 1 ? `${text} (${times}x)` : text)),
    }
  }
}
