/**
 * Keeps the removal of deleted streams out of a backup: it is about the store and the state at once, which
 * are copied one after the other.
 */
export class RemovalGate {
  readonly #underWay = new Set<Promise<unknown>>()
  #isClosed = false

  /** Removes, and resolves with what came of it; undefined while the gate is closed: nothing was done then. */
  readonly pass = async <Result>(remove: () => Promise<Result>): Promise<Result | undefined> => {
    if (this.#isClosed) return undefined
    const removal = remove()
    this.#underWay.add(removal)
    try {
      return await removal
    } finally {
      this.#underWay.delete(removal)
    }
  }

  /** Resolves when no removal goes on any more; none begins until `open`. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.allSettled(this.#underWay)
  }

  open(): void {
    this.#isClosed = false
  }
}
