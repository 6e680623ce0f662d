import type { StreamVersion } from '../../contracts/reading.ts'
import type { Clock } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import type { ClearedRange } from '../../ingest/pipeline/entry.ts'
import type { GroupCommit } from '../../ingest/pipeline/group-commit.ts'

/** Removals under way: the store does one at a time, and stores nothing meanwhile. */
const removalsOfUserMax = 4
const removalsMax = 16

export interface RemovalsNeeds {
  readonly commits: GroupCommit
  readonly clock: Clock
  /** Resolves with whether the store has done what is acknowledged by now, after a bounded wait. */
  readonly caughtUp: () => Promise<boolean>
}

/**
 * Removes stored readings by an entry of the journal, which stands between what came before and what
 * comes after it: so exactly those go that were acknowledged before.
 */
export class Removals {
  readonly #needs: RemovalsNeeds
  readonly #underWay = new Map<UserId, number>()
  #running = 0

  constructor(needs: RemovalsNeeds) {
    this.#needs = needs
  }

  /**
   * Resolves once the removal is durable, with whether it is done, too. When the store is out of order or
   * has much to do, it will be done later.
   *
   * @throws DomainError `rate_limited`, `overloaded`, or why the journal takes nothing
   */
  async remove(userId: UserId, stream: StreamVersion, range: ClearedRange): Promise<boolean> {
    this.#needs.commits.assertReady()
    this.#enter(userId)
    try {
      await this.#keep(stream, range)
      return await this.#needs.caughtUp()
    } finally {
      this.#leave(userId)
    }
  }

  #keep(stream: StreamVersion, range: ClearedRange): Promise<void> {
    const { commits, clock } = this.#needs
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    commits.add(
      (writer) => writer.cleared(stream, range, clock.nowUs()),
      (error) => {
        if (error === undefined) resolve()
        else reject(error)
      },
    )
    return promise
  }

  #enter(userId: UserId): void {
    const ofUser = this.#underWay.get(userId) ?? 0
    if (ofUser >= removalsOfUserMax) {
      const message = `${removalsOfUserMax} removals at once are enough for one user`
      throw new DomainError('rate_limited', message, { retryAfter: 1 })
    }
    if (this.#running >= removalsMax) {
      throw new DomainError('overloaded', 'too many removals are under way', { retryAfter: 1 })
    }
    this.#underWay.set(userId, ofUser + 1)
    this.#running++
  }

  #leave(userId: UserId): void {
    const ofUser = (this.#underWay.get(userId) ?? 0) - 1
    if (ofUser > 0) this.#underWay.set(userId, ofUser)
    else this.#underWay.delete(userId)
    this.#running--
  }
}
