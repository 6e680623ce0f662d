import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../../core/clock.ts'
import { race } from '../../core/race.ts'

/** How long a removal lets others begin before it: the largest upload is looked at in less. */
const patienceMs = 60_000

/**
 * Keeps two things apart: contents that are about to be named by the state, and the removal of contents that
 * it does not name. Any number may take at once. A removal waits until none does; nobody waits for it meanwhile,
 * because a large upload takes long, unless it has waited for very long itself.
 */
export class ContentTurns {
  readonly #patienceMs: number
  readonly #taking = new Set<Promise<unknown>>()
  /** The last of those who remove, one after the other. */
  #last: Promise<unknown> = Promise.resolve()
  /** A removal that goes on, or will not wait any longer. */
  #blocking: Promise<unknown> | undefined

  constructor(patience = patienceMs) {
    this.#patienceMs = patience
  }

  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    while (this.#blocking) await this.#blocking
    const taking = work()
    const settled = taking.catch(() => undefined)
    this.#taking.add(settled)
    try {
      return await taking
    } finally {
      this.#taking.delete(settled)
    }
  }

  async remove<Result>(work: () => Promise<Result>): Promise<Result> {
    const removing = this.#removal(this.#last, work)
    this.#last = removing.catch(() => undefined)
    return await removing
  }

  async #removal<Result>(before: Promise<unknown>, work: () => Promise<Result>): Promise<Result> {
    await before
    await this.#untilFree()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#blocking = promise
    try {
      await Promise.all(this.#taking)
      return await work()
    } finally {
      this.#blocking = undefined
      resolve()
    }
  }

  /** Resolves when nobody takes, or patience is over. */
  async #untilFree(): Promise<void> {
    const untilMs = monotonicMs() + this.#patienceMs
    while (this.#taking.size > 0 && monotonicMs() < untilMs) {
      const ending = new AbortController()
      const rest = sleep(untilMs - monotonicMs(), undefined, { signal: ending.signal })
      rest.catch(() => undefined)
      await race([...this.#taking, rest])
      ending.abort()
      // The one that has ended leaves the set by itself.
      await Promise.resolve()
    }
  }
}
