/** Answers up to this size are taken at any time: one of each source. */
export const smallBytesMax = 1024 * 1024

/** Larger answers that are in memory at once, of all sources together. */
const largePagesMax = 4

/** A large page has to be here so soon: others wait for its place. */
export const largePageMs = 60_000

class Places {
  #taken = 0
  readonly #waiting: (() => void)[] = []

  async take(signal: AbortSignal): Promise<void> {
    while (this.#taken >= largePagesMax) await this.#turn(signal)
    this.#taken++
  }

  giveBack(): void {
    this.#taken--
    this.#waiting.shift()?.()
  }

  async #turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const giveUp = () => {
      const place = this.#waiting.indexOf(resolve)
      // Who was called already takes the place, and gives it back.
      if (place < 0) return
      this.#waiting.splice(place, 1)
      reject(signal.reason as Error)
    }
    this.#waiting.push(resolve)
    signal.addEventListener('abort', giveUp)
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }
}

const places = new Places()

/**
 * The room that one page takes in memory. A large one waits for a place, while the other side waits for us; who has a
 * place waits for nobody but the other side and the disk, so that all get their turn.
 */
export class PageRoom implements Disposable {
  #isLarge = false

  get isLarge(): boolean {
    return this.#isLarge
  }

  /** To be called before so much of a page is held. @throws Error with the reason of the signal */
  async need(bytes: number, signal: AbortSignal): Promise<void> {
    if (bytes <= smallBytesMax || this.#isLarge) return
    await places.take(signal)
    this.#isLarge = true
  }

  [Symbol.dispose](): void {
    if (!this.#isLarge) return
    this.#isLarge = false
    places.giveBack()
  }
}
