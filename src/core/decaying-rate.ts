import { monotonicMs } from './clock.ts'

/** A rate per second as an exponential average over about a minute of the monotonic clock: no history. */
export class DecayingRate {
  static readonly #windowMs = 60_000
  readonly #nowMs: () => number
  #count = 0
  #atMs = 0

  constructor(nowMs = monotonicMs) {
    this.#nowMs = nowMs
  }

  add(count: number): void {
    const nowMs = this.#nowMs()
    this.#count = this.#decayed(nowMs) + count
    this.#atMs = nowMs
  }

  perSecond(): number {
    return (this.#decayed(this.#nowMs()) * 1_000) / DecayingRate.#windowMs
  }

  #decayed(nowMs: number): number {
    return this.#count * Math.exp((this.#atMs - nowMs) / DecayingRate.#windowMs)
  }
}
