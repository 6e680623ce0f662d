/** Turns of the event loop: enough to read what has arrived, and an answer to what was said just before. */
const turns = 4

/**
 * Resolves when what has arrived by now was read. After a thread has stood still its timers go off before it reads
 * anything: only then silence says something about the other side.
 */
export async function untilRead(): Promise<void> {
  for (let turn = 0; turn < turns; turn++) {
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
}

/** Calls once nothing was heard for so long. */
export class Silence {
  readonly #onSilence: () => void
  readonly #timer: NodeJS.Timeout
  #isSilent = false

  constructor(ms: number, onSilence: () => void) {
    this.#onSilence = onSilence
    this.#timer = setTimeout(() => void this.#listenAgain(), ms)
  }

  heard(): void {
    this.#isSilent = false
    this.#timer.refresh()
  }

  /** Ends the watch: nothing is called any more. */
  end(): void {
    this.#isSilent = false
    clearTimeout(this.#timer)
  }

  async #listenAgain(): Promise<void> {
    this.#isSilent = true
    await untilRead()
    if (this.#isSilent) this.#onSilence()
  }
}
