/** What may be spent: `burst` at once, and then `perSecond`. */
export interface BucketRate {
  readonly perSecond: number
  readonly burst: number
}

/**
 * A token bucket that may go into debt: what is asked for at once and is more than the bucket can ever
 * hold is let through when the bucket is full, and paid for by the wait after it. So the rate holds
 * over time, and no message is too large to ever pass.
 */
export class TokenBucket {
  readonly rate: BucketRate
  #tokens: number
  #filledAtUs: number

  constructor(rate: BucketRate, nowUs: number) {
    this.rate = rate
    this.#tokens = rate.burst
    this.#filledAtUs = nowUs
  }

  /** Milliseconds until `count` may be spent: 0 when they may be now. */
  waitMs(count: number, nowUs: number): number {
    this.#fill(nowUs)
    const missing = Math.min(count, this.rate.burst) - this.#tokens
    return missing <= 0 ? 0 : Math.ceil((missing / this.rate.perSecond) * 1_000)
  }

  /** Spends, whether there is enough or not. */
  spend(count: number, nowUs: number): void {
    this.#fill(nowUs)
    this.#tokens -= count
  }

  #fill(nowUs: number): void {
    // A clock that was set back fills nothing, and takes nothing away.
    const elapsedS = Math.max(0, nowUs - this.#filledAtUs) / 1_000_000
    this.#tokens = Math.min(this.rate.burst, this.#tokens + elapsedS * this.rate.perSecond)
    this.#filledAtUs = nowUs
  }
}
