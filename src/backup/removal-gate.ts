/**
 * Keeps the removal of deleted streams out of a backup: it is about the store and the state at once, which
 * are copied one after the other.
 */
export class RemovalGate {
  readonly #underWay = new Set<Promise<unknown>>()
  #isClosed = false

  /** Removes, and resolves with whether that is done; false as well while the gate is closed. */
  async pass(remove: () => Promise<boolean>): Promise<boolean> {
    if (this.#isClosed) return false
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
