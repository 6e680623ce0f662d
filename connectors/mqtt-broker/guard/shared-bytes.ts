/** Somebody whose bytes count, and who can be made to give them back. */
export interface Holder {
  giveBack(): void
}

/**
 * Memory that connections take together. When there is too much of it, one of them has to give its
 * own back: of those that hold at least as much as the average, the one that has held it longest. So
 * those who let packets dribble in, or messages lie, go before those who are busy.
 */
export class SharedBytes {
  readonly #bytesMax: number
  /** Holders in the order in which they began to hold something. */
  readonly #held = new Map<Holder, number>()
  #total = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get total(): number {
    return this.#total
  }

  /** Notes how much a holder has from now on. One that has to give back is told so at once. */
  hold(holder: Holder, bytes: number): void {
    this.#total += bytes - (this.#held.get(holder) ?? 0)
    if (bytes === 0) this.#held.delete(holder)
    else this.#held.set(holder, bytes)
    while (this.#total > this.#bytesMax) this.#longestHolder()?.giveBack()
  }

  #longestHolder(): Holder | undefined {
    const average = this.#total / this.#held.size
    for (const [holder, bytes] of this.#held) {
      if (bytes < average) continue
      this.hold(holder, 0)
      return holder
    }
    return undefined
  }
}
