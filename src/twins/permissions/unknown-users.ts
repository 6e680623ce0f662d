import { monotonicMs } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { LruMap } from '../../core/lru-map.ts'

/** Names that nobody has, of one owner in a minute: typing errors, and too few to find out who uses the service. */
const unknownMax = 20
const minuteMs = 60_000

/** Owners whose names are remembered: what is forgotten begins anew. */
const ownersMax = 20_000

/** Counts names that owners have tried, and that nobody has (decisions.md#permissions-of-vaults-and-asset-streams). */
export class UnknownUsers {
  /** When an owner has tried the newest of them, in order. */
  readonly #triedMs = new LruMap<UserId, readonly number[]>(ownersMax)
  readonly #nowMs: () => number

  /** @param nowMs the monotonic clock */
  constructor(nowMs = monotonicMs) {
    this.#nowMs = nowMs
  }

  /**
   * To be asked once it is known whether somebody has a name, and before anybody is told: with many requests at once
   * no more is learned.
   *
   * @throws DomainError `rate_limited`
   */
  assertMayLearn(ownerId: UserId): void {
    const [first = 0, ...others] = this.#lately(ownerId)
    if (others.length < unknownMax - 1) return
    throw new DomainError('rate_limited', 'too many usernames that do not exist: try again later', {
      retryAfter: Math.ceil((first + minuteMs - this.#nowMs()) / 1_000),
    })
  }

  count(ownerId: UserId): void {
    const tried = [...this.#lately(ownerId), this.#nowMs()]
    this.#triedMs.set(ownerId, tried.slice(-unknownMax))
  }

  /** Tries of the last minute. */
  #lately(ownerId: UserId): readonly number[] {
    const sinceMs = this.#nowMs() - minuteMs
    return (this.#triedMs.get(ownerId) ?? []).filter((atMs) => atMs > sinceMs)
  }
}
