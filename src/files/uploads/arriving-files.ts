import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'

/** Files that arrive, or are looked at, at once: each holds some buffers, and its place on the disk. */
const arrivingMax = 64
const arrivingOfUserMax = 8

/** Counts files that are under way, and lets no more in than there may be. */
export class ArrivingFiles {
  readonly #ofUser = new Map<UserId, number>()
  #bytes = 0

  get count(): number {
    let all = 0
    for (const ofUser of this.#ofUser.values()) all += ofUser
    return all
  }

  /** Bytes that have come so far, since the start. */
  get bytes(): number {
    return this.#bytes
  }

  noteBytes(bytes: number): void {
    this.#bytes += bytes
  }

  /** @throws DomainError `rate_limited`, `overloaded` */
  async admit<Result>(userId: UserId, work: () => Promise<Result>): Promise<Result> {
    const ofUser = this.#ofUser.get(userId) ?? 0
    if (ofUser >= arrivingOfUserMax) {
      const message = `${arrivingOfUserMax} files at once are enough for one user`
      throw new DomainError('rate_limited', message, { retryAfter: 5 })
    }
    if (this.count >= arrivingMax) {
      throw new DomainError('overloaded', 'too many files arrive', { retryAfter: 5 })
    }
    this.#ofUser.set(userId, ofUser + 1)
    try {
      return await work()
    } finally {
      const left = (this.#ofUser.get(userId) ?? 0) - 1
      if (left > 0) this.#ofUser.set(userId, left)
      else this.#ofUser.delete(userId)
    }
  }
}
