import type { onRequestHookHandler } from 'fastify'
import { DomainError } from '../core/errors.ts'
import type { UserId } from '../core/ids.ts'
import type { CallerOf } from '../http/server.ts'

/** Questions to the store that one user may have open: far fewer than may wait there altogether. */
const openMax = 24

/** Keeps one user from taking all the places in front of the store. */
export class QueryShare {
  readonly #open = new Map<UserId, number>()

  /** Takes a place for a request until its answer is sent or its client has gone. */
  hook(callerOf: CallerOf): onRequestHookHandler {
    return (request, reply, done) => {
      const { userId } = callerOf(request)
      const open = this.#open.get(userId) ?? 0
      if (open >= openMax) {
        const message = `${openMax} of your queries are being answered already`
        done(new DomainError('rate_limited', message, { retryAfter: 1 }))
        return
      }
      this.#open.set(userId, open + 1)
      reply.raw.once('close', () => this.#release(userId))
      done()
    }
  }

  #release(userId: UserId): void {
    const open = (this.#open.get(userId) ?? 0) - 1
    if (open > 0) this.#open.set(userId, open)
    else this.#open.delete(userId)
  }
}
