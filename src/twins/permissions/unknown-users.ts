import { monotonicMs } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { type Rate, RateLimiter } from '../../core/rate-limiter.ts'

/** Names that nobody has, of one owner: typing errors, and too few to find out who uses the service. */
const unknownRate = { burst: 20, perSecond: 20 / 60 } as const satisfies Rate

/** Counts names that owners have tried, and that nobody has (decisions.md#permissions-of-vaults-and-asset-streams). */
export class UnknownUsers {
  readonly #limiter: RateLimiter

  /** @param nowMs the monotonic clock */
  constructor(nowMs = monotonicMs) {
    this.#limiter = new RateLimiter(unknownRate, nowMs)
  }

  /**
   * To be asked once it is known whether somebody has a name, and before anybody is told: with many requests at once
   * no more is learned.
   *
   * @throws DomainError `rate_limited`
   */
  assertMayLearn(ownerId: UserId): void {
    const retryAfter = this.#limiter.waitS(ownerId)
    if (retryAfter === 0) return
    throw new DomainError('rate_limited', 'too many names that nobody has: try again later', {
      retryAfter,
    })
  }

  count(ownerId: UserId): void {
    this.#limiter.count(ownerId)
  }
}
