import type { StreamId, UserId } from '../core/ids.ts'
import type { StateDatabase, StateWriter } from '../state/database.ts'

/** How long a key is remembered (D8). */
const lifetimeUs = 24 * 3_600 * 1_000_000

/** One request that may be repeated: who, what for, and the key that they gave it. */
export interface IdempotentRequest {
  readonly userId: UserId
  readonly streamId: StreamId
  readonly key: string
  /** SHA-256 of the body: the same key with another body is a mistake. */
  readonly bodyDigest: string
}

/**
 * Remembers the time of receipt of requests with an Idempotency-Key, so that a repetition gets the
 * same one: readings without times of their own then keep their identity (D18).
 */
export class IdempotencyStore {
  readonly #state: StateDatabase
  readonly #writer: StateWriter

  constructor(state: StateDatabase, writer: StateWriter) {
    this.#state = state
    this.#writer = writer
  }

  /**
   * The time of receipt of the first such request: this one if there was none. Durable before it
   * returns. Undefined when the key was used with another body.
   */
  async receiptOf(request: IdempotentRequest, nowUs: number): Promise<number | undefined> {
    const { userId, streamId, key, bodyDigest } = request
    const known = (await this.#find(request, nowUs)) ?? (await this.#insert(request, nowUs))
    if (!known) throw new Error(`the idempotency key ${userId}/${streamId}/${key} has vanished`)
    return known.body_digest === bodyDigest ? known.received_at : undefined
  }

  async #find({ userId, streamId, key }: IdempotentRequest, nowUs: number) {
    return this.#state
      .selectFrom('idempotency_keys')
      .select(['body_digest', 'received_at'])
      .where('user_id', '=', userId)
      .where('stream_id', '=', streamId)
      .where('key', '=', key)
      .where('received_at', '>', nowUs - lifetimeUs)
      .executeTakeFirst()
  }

  /** Of parallel first requests one wins; all of them see its row. */
  async #insert(request: IdempotentRequest, nowUs: number) {
    const { userId, streamId, key, bodyDigest } = request
    await this.#writer.commit(
      this.#state.deleteFrom('idempotency_keys').where('received_at', '<=', nowUs - lifetimeUs),
      this.#state
        .insertInto('idempotency_keys')
        .values({
          user_id: userId,
          stream_id: streamId,
          key,
          body_digest: bodyDigest,
          received_at: nowUs,
        })
        .onConflict((conflict) => conflict.doNothing()),
    )
    return this.#find(request, nowUs)
  }
}
