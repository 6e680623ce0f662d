import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../../core/clock.ts'
import { race } from '../../core/race.ts'
import type { ContentKeys } from './content-keys.ts'
import { type ReadySignaturesNeeds, treatReady } from './ready-signatures.ts'

/** How often it is looked without anybody saying so: for what has failed to come, and after a start. */
const lookMs = 1_000

/** Between two looks at whether the key that signs is too old. */
const keyLookMs = 3_600_000

export interface SigningPassNeeds extends ReadySignaturesNeeds {
  readonly keys: Pick<ContentKeys, 'current' | 'rotateWhenDue'>
  readonly onFailure: (error: unknown) => void
}

/** Signs and checks what waits for its content, as soon as that is there. Nothing is remembered here that is not in rows. */
export class SigningPass {
  readonly #needs: SigningPassNeeds
  readonly #stopping = new AbortController()
  #woken = Promise.withResolvers<void>()
  #keyLookAtMs = 0
  #running: Promise<void> = Promise.resolve()

  constructor(needs: SigningPassNeeds) {
    this.#needs = needs
  }

  start(): void {
    this.#running = this.#run(this.#stopping.signal)
  }

  /** There may be something to do. */
  wake(): void {
    this.#woken.resolve()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.wake()
    await this.#running
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers()
      try {
        await this.#look(signal)
      } catch (error) {
        if (!signal.aborted) this.#needs.onFailure(error)
      }
      if (signal.aborted) return
      const ending = new AbortController()
      const options = { signal: ending.signal, ref: false }
      await race([this.#woken.promise, sleep(lookMs, undefined, options).catch(() => undefined)])
      ending.abort()
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    if (monotonicMs() >= this.#keyLookAtMs) {
      await this.#needs.keys.rotateWhenDue()
      this.#keyLookAtMs = monotonicMs() + keyLookMs
    }
    while (!signal.aborted && (await treatReady(this.#needs))) continue
  }
}
