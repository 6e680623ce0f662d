/**
 * Keeps two things apart: contents that are about to be named by the state, and the removal of contents that
 * it does not name. Any number may take at once; who removes waits for them, and they wait for it.
 */
export class ContentTurns {
  readonly #taking = new Set<Promise<unknown>>()
  #removal: Promise<unknown> = Promise.resolve()

  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    // A removal may have begun while the one before was waited for.
    for (let seen; seen !== this.#removal; ) {
      seen = this.#removal
      await seen
    }
    const taking = work()
    const settled = taking.catch(() => undefined)
    this.#taking.add(settled)
    try {
      return await taking
    } finally {
      this.#taking.delete(settled)
    }
  }

  async remove<Result>(work: () => Promise<Result>): Promise<Result> {
    const before = this.#removal
    const removing = (async () => {
      await before
      await Promise.all(this.#taking)
      return await work()
    })()
    this.#removal = removing.catch(() => undefined)
    return await removing
  }
}
