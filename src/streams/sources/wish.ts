import type { RoundWish } from '../../contracts/fetch-connector.ts'

/** That somebody wants something at once: whoever wants the same before it begins has it with them. */
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
