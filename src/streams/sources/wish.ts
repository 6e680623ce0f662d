import type { RoundWish } from '../../contracts/fetch-connector.ts'

/** Wish of somebody for something at once: all who want it before it begins have it together. */
export class Wish implements RoundWish {
  #isMade = false
  #listener: (() => void) | undefined

  make(): void {
    this.#isMade = true
    this.#listener?.()
  }

  grant(): boolean {
    const wasMade = this.#isMade
    this.#isMade = false
    return wasMade
  }

  listen(listener: () => void): () => void {
    this.#listener = listener
    if (this.#isMade) listener()
    return () => {
      if (this.#listener === listener) this.#listener = undefined
    }
  }
}
