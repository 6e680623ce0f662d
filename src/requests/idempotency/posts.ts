import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Compilable } from 'kysely'
import type { SteadyClock } from '../../core/clock.ts'
import type { DomainError } from '../../core/errors.ts'
import { idempotencyKeyOf } from '../../core/idempotency-key.ts'
import type { UserId } from '../../core/ids.ts'
import type { StateWriter } from '../../storage/state/database.ts'
import { bodyDigestOf } from '../http/json-body.ts'
import type { Answer, AnswerStore } from './answer-store.ts'
import type { KeyedRequest } from './keyed-request.ts'

/** What a POST does and answers, decided before anything of it is done. */
export interface Effect {
  readonly statusCode: number
  readonly body: object
  /** All happen, or, when one finds no row to change, none. */
  readonly changes: readonly Compilable[]
  /** Why none happened. What makes new rows only needs no reason. */
  readonly refusal?: () => Promise<DomainError>
  /** Work that has to follow before anybody hears of the changes; a restart does it anyway. */
  readonly afterwards?: () => Promise<void>
}

export interface Post {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly userId: UserId
  /**
   * The API key that asks, where the answer has a secret: another key of the same user, which may
   * have fewer rights, is not shown it again.
   */
  readonly apiKeyId?: string
  /** What of the route the key counts for, where one route does different things. */
  readonly keyedAs?: string | undefined
  /** Writes an answer in another format than JSON, and says so in the reply. */
  readonly present?: (body: object, reply: FastifyReply) => string
}

/** What a POST is answered, for the first time or again. */
interface Outcome extends Answer {
  readonly isRepeated: boolean
}

export interface PostsNeeds {
  readonly answers: AnswerStore
  readonly writer: StateWriter
  readonly clock: SteadyClock
}

/**
 * Does what a POST asks for, and under an Idempotency-Key does it once
 * (decisions.md#idempotency-key).
 *
 * The answer is remembered by the commit that makes the changes, so no crash can come between the
 * two. Only what was done is remembered: a refusal changes nothing and is decided again.
 */
export class Posts {
  readonly #needs: PostsNeeds
  /** Requests under way, by key: as many as there are connections at most. */
  readonly #underWay = new Map<string, Promise<void>>()

  constructor(needs: PostsNeeds) {
    this.#needs = needs
  }

  /**
   * Answers a POST: with what `plan` decides, or again with what the same request was answered.
   *
   * @throws DomainError `idempotency_conflict` for a key that came with another body before,
   *   `rate_limited` when the user has too many keys, or what `plan` throws
   */
  async answer(post: Post, plan: () => Promise<Effect>): Promise<FastifyReply> {
    const keyed = keyedRequest(post)
    const { statusCode, body, isRepeated } = keyed
      ? // Requests that come with the same key meanwhile wait, and then find the answer.
        await this.#alone(JSON.stringify([keyed.userId, keyed.scope, keyed.key]), async () => {
          const known = await this.#again(keyed)
          return known ?? (await this.#perform(await plan(), keyed))
        })
      : await this.#perform(await plan())
    if (isRepeated) void post.reply.header('idempotency-replayed', 'true')
    // Sent here only: a reply is itself awaited for when a function hands it on, and comes out empty.
    const { reply, present } = post
    return reply.code(statusCode).send(present ? present(body, reply) : body)
  }

  async #alone<Value>(id: string, work: () => Promise<Value>): Promise<Value> {
    for (let other = this.#underWay.get(id); other; other = this.#underWay.get(id)) await other
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#underWay.set(id, promise)
    try {
      return await work()
    } finally {
      this.#underWay.delete(id)
      resolve()
    }
  }

  async #perform(effect: Effect, keyed?: KeyedRequest): Promise<Outcome> {
    const { statusCode, body, changes, refusal, afterwards } = effect
    const { answers, writer, clock } = this.#needs
    const remembering = keyed ? answers.remember(keyed, { statusCode, body }, clock.steadyUs()) : []
    if (await writer.attempt(...changes, ...remembering)) {
      await afterwards?.()
      return { statusCode, body, isRepeated: false }
    }
    if (keyed) {
      // Somebody else may have been first: another process on the same state.
      const known = await this.#again(keyed)
      if (known) return known
      await answers.assertRoom(keyed.userId)
    }
    throw (await refusal?.()) ?? new Error('a change that cannot fail has failed')
  }

  async #again(keyed: KeyedRequest): Promise<Outcome | undefined> {
    const { answers, clock } = this.#needs
    const known = await answers.find(keyed, clock.steadyUs())
    return known && { ...known, isRepeated: true }
  }
}

function keyedRequest({ request, userId, apiKeyId, keyedAs }: Post): KeyedRequest | undefined {
  const key = idempotencyKeyOf(request.raw)
  if (key === undefined) return undefined
  // The route and what it was asked about, and not the URL: that can be spelled in many ways.
  const ids = JSON.stringify(request.params ?? {}).toLowerCase()
  const path = `${request.routeOptions.url} ${ids}`
  const scope = [path, apiKeyId, keyedAs].filter((part) => part !== undefined).join(' ')
  return { userId, scope, key, bodyDigest: bodyDigestOf(request) }
}
