import { type Compilable, sql } from 'kysely'
import { keptBodyDigest, keptKey, type SecretDigests } from '../../core/idempotency-key.ts'
import type { UserId } from '../../core/ids.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import { type Expiring, removeExpired } from '../../storage/state/expiry.ts'
import { countChange, isBelow, totalOf } from '../../storage/state/totals.ts'

/** How long an answer is given again (decisions.md#idempotency-key). */
const lifetimeUs = 24 * 3_600 * 1_000_000

/** Answers that are remembered of one user: more would let one user fill the disk. */
export const answersMax = 100_000

/** A request that may come again: who, where, and the key that they gave it. */
export interface KeyedRequest {
  readonly userId: UserId
  readonly path: string
  readonly key: string
  /** SHA-256 of the body: the same key with another body is a mistake. */
  readonly bodyDigest: string
}

export interface Answer {
  readonly statusCode: number
  readonly body: object
}

/** Encryption at rest: an answer may hold a secret that is shown once, and a key be as good as it. */
export interface Cipher extends SecretDigests {
  encrypt(text: string): Uint8Array
  decrypt(bytes: Uint8Array): string
}

export interface AnswerStoreNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly cipher: Cipher
}

/** Remembers what requests with an Idempotency-Key were answered. */
export class AnswerStore {
  readonly #needs: AnswerStoreNeeds

  constructor(needs: AnswerStoreNeeds) {
    this.#needs = needs
  }

  async find(
    request: KeyedRequest,
    steadyUs: number,
  ): Promise<(Answer & { readonly isSameBody: boolean }) | undefined> {
    const { state, cipher } = this.#needs
    const { userId, path } = request
    const key = keptKey(cipher, request.key)
    const row = await state
      .selectFrom('idempotent_answers')
      .select(['status_code', 'body_encrypted', 'body_digest', 'created_at'])
      .where('user_id', '=', userId)
      .where('path', '=', path)
      .where('key', '=', key)
      .executeTakeFirst()
    if (!row) return undefined
    if (row.created_at <= steadyUs - lifetimeUs) {
      await this.#forget(request, steadyUs)
      return undefined
    }
    const body = JSON.parse(cipher.decrypt(row.body_encrypted)) as object
    const isSameBody = row.body_digest === keptBodyDigest(cipher, request.bodyDigest)
    return { statusCode: row.status_code, body, isSameBody }
  }

  /** What goes into the commit of the request: it changes nothing when the key is taken. */
  remember(request: KeyedRequest, { statusCode, body }: Answer, steadyUs: number): Compilable[] {
    const { state, cipher } = this.#needs
    const { userId, path } = request
    const key = keptKey(cipher, request.key)
    const bodyDigest = keptBodyDigest(cipher, request.bodyDigest)
    const bodyEncrypted = cipher.encrypt(JSON.stringify(body))
    return [
      state
        .insertInto('idempotent_answers')
        .columns([
          'user_id',
          'path',
          'key',
          'body_digest',
          'status_code',
          'body_encrypted',
          'created_at',
        ])
        .expression(
          sql`SELECT ${userId}, ${path}, ${key}, ${bodyDigest}, ${statusCode}, ${bodyEncrypted},
                ${steadyUs} WHERE ${isBelow('idempotent_answers', userId, answersMax)}`,
        )
        .onConflict((conflict) => conflict.doNothing()),
      countChange(state, 'idempotent_answers', userId, 1),
    ]
  }

  async hasRoom(userId: UserId): Promise<boolean> {
    return (await totalOf(this.#needs.state, 'idempotent_answers', userId)) < answersMax
  }

  /** Removes a portion of what has expired. Resolves with whether there is more. */
  async purge(steadyUs: number): Promise<boolean> {
    return await removeExpired(this.#needs, expiring, steadyUs - lifetimeUs)
  }

  /** Makes room for a new answer under the same key. */
  async #forget({ userId, path, key }: KeyedRequest, steadyUs: number): Promise<void> {
    const { state, writer, cipher } = this.#needs
    await writer.attempt(
      state
        .deleteFrom('idempotent_answers')
        .where('user_id', '=', userId)
        .where('path', '=', path)
        .where('key', '=', keptKey(cipher, key))
        // Somebody else may have been faster, and put a new one in its place.
        .where('created_at', '<=', steadyUs - lifetimeUs),
      countChange(state, 'idempotent_answers', userId, -1),
    )
  }
}

const expiring: Expiring = {
  table: 'idempotent_answers',
  column: 'created_at',
  total: 'idempotent_answers',
}
