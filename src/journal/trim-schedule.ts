import type { Journal, Offset } from './journal.ts'

const intervalMs = 1_000

/** Trims the journal to its slowest consumer, once a second. */
export class TrimSchedule {
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> = Promise.resolve()

  constructor(journal: Journal, slowestPosition: () => Promise<Offset>) {
    let isBusy = false
    const trim = async () => {
      const position = await slowestPosition()
      await journal.trim(position)
    }
    this.#timer = setInterval(() => {
      if (isBusy) return
      isBusy = true
      // A trim that fails, for want of space say, is tried again at the next turn.
      this.#running = trim()
        .catch(() => undefined)
        .finally(() => {
          isBusy = false
        })
    }, intervalMs)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }
}
