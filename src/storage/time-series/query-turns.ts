import { DomainError } from '../../core/errors.ts'

export interface QueryLimits {
  /**
   * Queries at a time. Each holds up one of the threads that DuckDB's work is done on (see
   * `UV_THREADPOOL_SIZE` in `src/main.ts`), and the one that writes needs one for itself.
   */
  readonly atOnce: number
  /** Queries that may wait for their turn: each holds a request open. */
  readonly waitingMax: number
  /** How long a query may take, once it has its turn. */
  readonly ms: number
}

export const queryLimits: QueryLimits = { atOnce: 2, waitingMax: 64, ms: 10_000 }

/** Lets a few queries at a time work, in the order in which they came, and few wait. */
export class QueryTurns {
  readonly #limits: QueryLimits
  readonly #queue: (() => void)[] = []
  #running = 0

  constructor(limits: QueryLimits) {
    this.#limits = limits
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#queue.length
  }

  /** @throws DomainError `overloaded` when too many are waiting */
  async take<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#running < this.#limits.atOnce) this.#running++
    else await this.#wait()
    try {
      return await work()
    } finally {
      // The turn is handed on, so that nobody who comes now gets in before those who wait.
      const next = this.#queue.shift()
      if (next) next()
      else this.#running--
    }
  }

  async #wait(): Promise<void> {
    if (this.#queue.length >= this.#limits.waitingMax) {
      throw new DomainError('overloaded', 'too many queries are waiting for their turn', {
        retryAfter: 1,
      })
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#queue.push(resolve)
    await promise
  }
}
