import { setTimeout as sleep } from 'node:timers/promises'
import type { PermissionEnds } from './permission-ends.ts'

/** Between two portions: what users ask for goes before. */
const restMs = 50

/** Nobody wakes it: what has ended counts no more anyway, and is told within this time. */
const lookMs = 1_000

/** Wait after a failure. */
const tryAgainMs = 5_000

/** Ends permissions whose time is over, portion by portion, as long as the service runs. */
export class EndsPass {
  readonly #ends: Pick<PermissionEnds, 'endSome' | 'nextUs'>
  readonly #onFailure: (error: unknown) => void
  readonly #stopping = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(
    ends: Pick<PermissionEnds, 'endSome' | 'nextUs'>,
    onFailure: (error: unknown) => void,
  ) {
    this.#ends = ends
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
        if (!(await this.#ends.endSome())) waitMs = await this.#untilNextMs()
      } catch (error) {
        if (signal.aborted) return
        this.#onFailure(error)
        waitMs = tryAgainMs
      }
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  async #untilNextMs(): Promise<number> {
    const nextUs = await this.#ends.nextUs()
    if (nextUs === undefined) return lookMs
    return Math.min(lookMs, Math.max(restMs, Math.ceil(nextUs / 1_000)))
  }
}
