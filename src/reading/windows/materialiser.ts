import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, monotonicMs } from '../../core/clock.ts'
import type { ComputedPiece } from '../../storage/time-series/windows/window-store.ts'
import { groupsOf, type WindowedStore } from './compute-windows.ts'
import { Portions, type TooSlowWindow } from './portions.ts'

/**
 * How long after its end a window is computed, once all that had come in by then is stored: readings of its last
 * moments are still on their way. What comes later revises it.
 */
const graceUs = 2_000_000

/**
 * Windows of one step. Those that are alike are computed by one query, so of thousands that end at once it takes
 * more than a few: in halves they would cost twice as many queries.
 */
const windowsOfStep = 10_000

/** Results that are written together, about: each transaction holds up the shipper, and waits for it. */
const windowsOfWrite = 2_000

/** How often marks are looked through when there was nothing to do. */
const idleMs = 500

/** While entries wait for the store, it rests for so many times as long as a step has taken: shipments come first. */
const restFactor = 2

/** Waits after failures. */
const retryMsMax = 10_000

/** What is on its way to the store. */
export interface StoreProgress {
  /** By when what came in is stored: what is computed of later readings is computed in vain. */
  storedUntilUs(nowUs: number): number
  /** Whether so much waits that shipments come first. */
  readonly isBehind: boolean
}

export interface MaterialiserNeeds {
  readonly store: WindowedStore
  readonly clock: Clock
  /** The monotonic clock. */
  readonly nowMs?: () => number
  /** Where nothing is said, all that came in is stored. */
  readonly progress?: StoreProgress
  readonly onFailure: (error: unknown) => void
  /** Called with a window that cannot be computed: it waits for an hour, with those of its stream before it. */
  readonly onTooSlow: (window: TooSlowWindow) => void
}

/**
 * Computes windows that have ended and are marked, step by step. Nothing is remembered between steps: what
 * is to be done are the marks, and what was computed counts if its marks are as they were.
 */
export class Materialiser {
  readonly #needs: MaterialiserNeeds
  readonly #portions: Portions
  #behindSinceMs: number | undefined
  #tooSlow = 0

  constructor(needs: MaterialiserNeeds) {
    this.#needs = needs
    const { store, onTooSlow } = needs
    const count = (window: TooSlowWindow) => {
      this.#tooSlow++
      onTooSlow(window)
    }
    this.#portions = new Portions(
      { store, windowsMax: windowsOfStep, onTooSlow: count },
      needs.nowMs,
    )
  }

  /** How often it had to leave a window, as not even that alone can be computed. */
  get tooSlow(): number {
    return this.#tooSlow
  }

  /** For how long there has been something to do without a break, in seconds. */
  get behindSeconds(): number {
    return this.#behindSinceMs === undefined ? 0 : (monotonicMs() - this.#behindSinceMs) / 1_000
  }

  /** Works until it is told to stop. */
  async run(signal: AbortSignal): Promise<void> {
    let retryMs = idleMs
    while (!signal.aborted) {
      const startedMs = monotonicMs()
      try {
        const worked = await this.step(signal)
        retryMs = idleMs
        if (worked) await this.#rest(monotonicMs() - startedMs, signal)
        else await pause(idleMs, signal)
      } catch (error) {
        // A store that is being closed ends what it was asked for.
        if (signal.aborted) return
        this.#needs.onFailure(error)
        await pause(retryMs, signal)
        retryMs = Math.min(retryMs * 2, retryMsMax)
      }
    }
  }

  /** Computes some of the windows that are due; returns whether there were any. */
  async step(signal?: AbortSignal): Promise<boolean> {
    const { store, clock, progress } = this.#needs
    const nowUs = clock.nowUs()
    const dueFromUs = (streamId: string) => this.#portions.dueFromUs(streamId)
    const storedUntilUs = progress?.storedUntilUs(nowUs) ?? nowUs
    const due = store.windows.due(storedUntilUs - graceUs, windowsOfStep, dueFromUs)
    if (due.length === 0) this.#behindSinceMs = undefined
    else this.#behindSinceMs ??= monotonicMs()
    let computed: ComputedPiece[] = []
    for (const group of groupsOf(due)) {
      if (signal?.aborted) break
      computed.push(...(await this.#portions.compute(group)))
      if (resultsIn(computed) < windowsOfWrite) continue
      await store.windows.write(computed)
      computed = []
    }
    if (computed.length > 0) await store.windows.write(computed)
    return due.length > 0
  }

  async #rest(workedMs: number, signal: AbortSignal): Promise<void> {
    let leftMs = workedMs * restFactor
    do {
      await pause(Math.min(leftMs, idleMs), signal)
      leftMs -= idleMs
    } while (leftMs > 0 && this.#needs.progress?.isBehind === true && !signal.aborted)
  }
}

function resultsIn(computed: readonly ComputedPiece[]): number {
  return computed.reduce((sum, { windows }) => sum + windows.length, 0)
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}
