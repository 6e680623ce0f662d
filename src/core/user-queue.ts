import { DomainError } from './errors.ts'
import type { UserId } from './ids.ts'

/** Pieces of work that wait for their turn: only one is done, so that long work leaves room for the rest. */
const waitingMax = 16

/** How many of one user wait, so that nobody can take all the places. */
const waitingOfUserMax = 4

/** Long work that users ask for, one piece after the other. */
export class UserQueue {
  /** By user: only those who wait, or whose work is done now. */
  readonly #waiting = new Map<UserId, number>()
  /** How others call what is done. */
  readonly #name: string
  #last: Promise<unknown> = Promise.resolve()

  constructor(name: string) {
    this.#name = name
  }

  /**
   * Does a piece of work once all before it have come to their end.
   *
   * @throws DomainError `overloaded` when too many wait, or too many of this user
   */
  async do<Result>(userId: UserId, work: () => Promise<Result>): Promise<Result> {
    this.#enter(userId)
    const before = this.#last
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#last = promise
    try {
      await before
      return await work()
    } finally {
      this.#leave(userId)
      resolve()
    }
  }

  #enter(userId: UserId): void {
    const ofUser = this.#waiting.get(userId) ?? 0
    const all = this.#waiting.values().reduce((sum, waiting) => sum + waiting, 0)
    if (ofUser >= waitingOfUserMax || all >= waitingMax) {
      throw new DomainError('overloaded', `too many ${this.#name} at once`, { retryAfter: 1 })
    }
    this.#waiting.set(userId, ofUser + 1)
  }

  #leave(userId: UserId): void {
    const others = (this.#waiting.get(userId) ?? 0) - 1
    if (others > 0) this.#waiting.set(userId, others)
    else this.#waiting.delete(userId)
  }
}
