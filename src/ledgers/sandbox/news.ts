/** Tells who waits that something is new, also of what came while nobody waited. */
export class News {
  #isNew = false
  #told = Promise.withResolvers<void>()

  tell(): void {
    this.#isNew = true
    this.#told.resolve()
    this.#told = Promise.withResolvers<void>()
  }

  /** Resolves when there was something since it last did, or the signal is aborted. */
  async next(signal: AbortSignal): Promise<void> {
    if (!this.#isNew && !signal.aborted) {
      const woken = Promise.withResolvers<void>()
      const wake = () => woken.resolve()
      signal.addEventListener('abort', wake)
      void this.#told.promise.then(wake)
      await woken.promise
      signal.removeEventListener('abort', wake)
    }
    this.#isNew = false
  }
}
