import { setTimeout as sleep } from 'node:timers/promises'
import { anchorEarlier, type EarlierNeeds } from './earlier-resources.ts'

/** Between two portions: what users ask for goes before. */
const restMs = 200

/** Wait after a failure. */
const tryAgainMs = 5_000

/** Has what was there before there were anchors anchored, portion by portion, until nothing is left. */
export class EarlierPass {
  readonly #needs: EarlierNeeds
  readonly #onFailure: (error: unknown) => void
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(needs: EarlierNeeds, onFailure: (error: unknown) => void) {
    this.#needs = needs
    this.#onFailure = onFailure
  }

  start(): void {
    this.#running = this.#run(this.#stopping.signal)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let waitMs = restMs
      try {
        if (!(await anchorEarlier(this.#needs))) return
      } catch (error) {
        if (signal.aborted) return
        this.#onFailure(error)
        waitMs = tryAgainMs
      }
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
}
