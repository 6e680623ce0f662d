import { Readable } from 'node:stream'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'

/** Questions to the store that one user may have open: far fewer than may wait there altogether. */
const openMax = 24

/** Keeps one user from taking all the places in front of the store. */
export class QueryShare {
  readonly #open = new Map<UserId, number>()

  /**
   * Keeps a place of the user until the work has ended, and the stream that it may come to is closed.
   * A client that goes away frees nothing: what it has asked for still takes its turn at the store.
   *
   * @throws DomainError `rate_limited`, or what the work throws
   */
  async during<Answer>(userId: UserId, work: () => Promise<Answer>): Promise<Answer> {
    this.#take(userId)
    let answer: Answer | undefined
    try {
      answer = await work()
      return answer
    } finally {
      // Lines are asked of the store as they are read; their stream closes when the last question ends.
      if (answer instanceof Readable && !answer.closed) {
        answer.once('close', () => this.#release(userId))
      } else this.#release(userId)
    }
  }

  #take(userId: UserId): void {
    const open = this.#open.get(userId) ?? 0
    if (open >= openMax) {
      const message = `${openMax} of your queries are being answered already`
      throw new DomainError('rate_limited', message, { retryAfter: 1 })
    }
    this.#open.set(userId, open + 1)
  }

  #release(userId: UserId): void {
    const open = (this.#open.get(userId) ?? 0) - 1
    if (open > 0) this.#open.set(userId, open)
    else this.#open.delete(userId)
  }
}
