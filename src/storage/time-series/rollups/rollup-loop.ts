import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../../../core/clock.ts'
import { rollupWidthUs } from './rollup-width.ts'

/** How often it is looked for something to do. */
const idleMs = 5_000

/** After each step it rests for so many times as long as the step has taken: shipments come first. */
const restFactor = 2

export interface RollupLoopNeeds {
  /** Does some of what is due. Returns whether there was anything. */
  readonly step: () => Promise<boolean>
  readonly onFailure: (error: unknown) => void
}

/** Rolls up beside everything else, for as long as a store is open. */
export class RollupLoop {
  readonly #needs: RollupLoopNeeds
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #stepping: Promise<unknown> = Promise.resolve()

  constructor(needs: RollupLoopNeeds) {
    this.#needs = needs
  }

  /** Works from now on, until it is stopped. */
  start(): void {
    this.#running = this.#run(this.#stopping.signal)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  /** Does some of what is due, one step at a time: two would hand out the same marks. */
  async step(): Promise<boolean> {
    const stepping = this.#stepping.then(this.#needs.step)
    this.#stepping = stepping.catch(() => undefined)
    return await stepping
  }

  async #run(signal: AbortSignal): Promise<void> {
    let restMs = idleMs
    while (!signal.aborted) {
      // Nobody waits for it: a process may end meanwhile.
      await sleep(restMs, undefined, { signal, ref: false }).catch(() => undefined)
      if (signal.aborted) return
      const startedMs = monotonicMs()
      const worked = await this.step().catch((error: unknown) => {
        // The marks are still there: it is tried again.
        if (!signal.aborted) this.#needs.onFailure(error)
        return false
      })
      restMs = worked ? (monotonicMs() - startedMs) * restFactor : idleMs
    }
  }
}

/** How long one look at readings should take, about: the time that it covers is cut accordingly. */
const lookMsMax = 400
const lookMsMin = 100
const spanGrowth = 4
const spanUsMax = 32 * 24 * 3_600_000_000

/** How much time one look at readings covers. */
export class LookSpan {
  us = 12 * rollupWidthUs

  adjust(tookMs: number): void {
    if (tookMs > lookMsMax) this.us /= 2
    else if (tookMs < lookMsMin) this.us *= spanGrowth
    const rows = Math.floor(Math.min(this.us, spanUsMax) / rollupWidthUs)
    this.us = Math.max(1, rows) * rollupWidthUs
  }
}

/** Knows which touches are old enough: they are numbered. */
export class QuietTouches {
  readonly #quietMs: number
  #seen: { readonly atMs: number; readonly touch: number }[] = []

  constructor(quietMs: number) {
    this.#quietMs = quietMs
  }

  /** The last touch that is as old. */
  touchedBy(touch: number): number {
    const nowMs = monotonicMs()
    this.#seen.push({ atMs: nowMs, touch })
    const last = this.#seen.findLastIndex(({ atMs }) => nowMs - atMs >= this.#quietMs)
    if (last < 0) return 0
    this.#seen = this.#seen.slice(last)
    return this.#seen[0]?.touch ?? 0
  }
}
