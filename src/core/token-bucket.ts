import { monotonicMs } from './clock.ts'

/** What may be spent: `burst` at once, and then `perSecond`. */
export interface BucketRate {
  readonly perSecond: number
  readonly burst: number
}

/**
 * A token bucket that may go into debt: what is asked for at once and is more than the bucket can ever
 * hold is let through when the bucket is full, and paid for by the wait after it. So the rate holds
 * over time, and no message is too large to ever pass. Time is that of the monotonic clock.
 */
export class TokenBucket {
  readonly rate: BucketRate
  readonly #nowMs: () => number
  #tokens: number
  #filledAtMs: number

  /** @param nowMs the monotonic clock */
  constructor(rate: BucketRate, nowMs = monotonicMs) {
    this.rate = rate
    this.#nowMs = nowMs
    this.#tokens = rate.burst
    this.#filledAtMs = nowMs()
  }

  /** Milliseconds until `count` may be spent: 0 when they may be now. */
  waitMs(count: number): number {
    this.#fill()
    const missing = Math.min(count, this.rate.burst) - this.#tokens
    return missing <= 0 ? 0 : Math.ceil((missing / this.rate.perSecond) * 1_000)
  }

  /** Spends, whether there is enough or not. */
  spend(count: number): void {
    this.#fill()
    this.#tokens -= count
  }

  #fill(): void {
    const nowMs = this.#nowMs()
    const elapsedS = (nowMs - this.#filledAtMs) / 1_000
    this.#tokens = Math.min(this.rate.burst, this.#tokens + elapsedS * this.rate.perSecond)
    this.#filledAtMs = nowMs
  }
}
