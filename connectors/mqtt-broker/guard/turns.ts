/**
 * Work for the broker in one turn of the event loop, over all connections: some milliseconds. Who
 * publishes readings waits no longer than this for the others, however much they send.
 */
const unitsPerTurn = 200

/** Called when its turn has come. */
export type Resume = () => void

/**
 * Deals out to the connections, in turn, what the broker does between two looks at the network.
 * A unit is about what a PINGREQ costs.
 */
export class BrokerTurns {
  #left = unitsPerTurn
  #isRefilling = false
  /** Waiting ones in the order in which they came. */
  readonly #waiting = new Set<Resume>()

  /** Connections that wait for a turn. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Takes units of this turn; false when none are left: `resume` is then called in a later one. */
  enter(units: number, resume: Resume): boolean {
    if (this.#left <= 0) {
      this.#waiting.add(resume)
      return false
    }
    this.spend(units)
    return true
  }

  /** Counts work that was done. What is more than one turn allows is taken from the next ones. */
  spend(units: number): void {
    this.#left -= units
    this.#refillLater()
  }

  /** To be called when somebody does not wait any more. */
  leave(resume: Resume): void {
    this.#waiting.delete(resume)
  }

  #refillLater(): void {
    if (this.#isRefilling) return
    this.#isRefilling = true
    setImmediate(() => {
      this.#isRefilling = false
      this.#left = Math.min(this.#left + unitsPerTurn, unitsPerTurn)
      if (this.#left < unitsPerTurn || this.#waiting.size > 0) this.#refillLater()
      for (const resume of this.#waiting) {
        if (this.#left <= 0) break
        this.#waiting.delete(resume)
        resume()
      }
    })
  }
}
