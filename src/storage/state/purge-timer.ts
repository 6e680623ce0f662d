/** What has expired takes only room until it is removed. */
const everyMs = 60_000

/** Removes one portion of what has expired. Resolves with whether there is more. */
export type Purge = () => Promise<boolean>

/** Removes what has expired once a minute, whether anybody asks for it or not. */
export class PurgeTimer {
  readonly #purges: readonly Purge[]
  readonly #onFailure: (error: unknown) => void
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> | undefined
  #isStopped = false

  constructor(purges: readonly Purge[], onFailure: (error: unknown) => void) {
    this.#purges = purges
    this.#onFailure = onFailure
    this.#timer = setInterval(() => this.#start(), everyMs)
    this.#timer.unref()
  }

  /** Resolves when nothing is being removed any more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#isStopped = true
    await this.#running
  }

  #start(): void {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  /** What could not be removed is tried again a minute later, and keeps nothing else waiting. */
  async #run(): Promise<void> {
    for (const purge of this.#purges) {
      try {
        let isMoreLeft = true
        while (isMoreLeft && !this.#isStopped) isMoreLeft = await purge()
      } catch (error) {
        this.#onFailure(error)
      }
    }
  }
}
