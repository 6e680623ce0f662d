/** A rate per second as an exponential average over about a minute: two numbers, no history. */
export class DecayingRate {
  static readonly #windowUs = 60_000_000
  #count = 0
  #atUs = 0

  add(count: number, nowUs: number): void {
    this.#count = this.#decayed(nowUs) + count
    this.#atUs = nowUs
  }

  perSecond(nowUs: number): number {
    return (this.#decayed(nowUs) * 1_000_000) / DecayingRate.#windowUs
  }

  #decayed(nowUs: number): number {
    return this.#count * Math.exp(-Math.max(0, nowUs - this.#atUs) / DecayingRate.#windowUs)
  }
}
