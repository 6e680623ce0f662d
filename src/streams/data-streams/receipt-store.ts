import { type Compilable, sql } from 'kysely'
import { DomainError } from '../../core/errors.ts'
import { idempotencyConflict, keptKey, type SecretDigests } from '../../core/idempotency-key.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import { type Expiring, removeExpired } from '../../storage/state/expiry.ts'
import { countChange, isBelow } from '../../storage/state/totals.ts'

/** How long a key is remembered (decisions.md#idempotency-key). */
const lifetimeUs = 24 * 3_600 * 1_000_000

/** Receipts that are remembered of one user: more would let one user fill the disk. */
export const receiptsMax = 1_000_000

/** One request that may be repeated: who, what for, and the key that they gave it. */
export interface IdempotentRequest {
  readonly userId: UserId
  /** The stream that it was about; `several` for a request with readings of any streams. */
  readonly streamId: StreamId | 'several'
  readonly key: string
  /** SHA-256 of the body: the same key with another body is a mistake. */
  readonly bodyDigest: string
}

export interface Receipt {
  readonly receivedAtUs: number
  /** Whether the request came before. */
  readonly isRepeated: boolean
}

export interface ReceiptStoreNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly digests: SecretDigests
}

/**
 * Remembers the time of receipt of readings with an Idempotency-Key, so that a repetition gets the
 * same one: readings without times of their own then keep their identity
 * (decisions.md#times-of-readings).
 */
export class ReceiptStore {
  readonly #needs: ReceiptStoreNeeds

  constructor(needs: ReceiptStoreNeeds) {
    this.#needs = needs
  }

  /**
   * The time of receipt of the first such request: this one if there was none. Durable before it
   * returns.
   *
   * @param steadyUs now, in steady time: how long the key is remembered counts from there
   * @throws DomainError `idempotency_conflict` when the key was used with another body, or
   *   `rate_limited` when too many keys of the user are remembered
   */
  async receiptOf(given: IdempotentRequest, nowUs: number, steadyUs: number): Promise<Receipt> {
    const { writer, digests } = this.#needs
    const request = { ...given, key: keptKey(digests, given.key) }
    const known = await this.#find(request, steadyUs)
    if (known) return repeated(known, request)
    // One of parallel first requests wins; the others find its row.
    if (await writer.attempt(...this.#insertion(request, nowUs, steadyUs))) {
      return { receivedAtUs: nowUs, isRepeated: false }
    }
    const other = await this.#find(request, steadyUs)
    if (other) return repeated(other, request)
    throw new DomainError(
      'rate_limited',
      `at most ${receiptsMax} requests with an Idempotency-Key are remembered in 24 hours`,
      { retryAfter: 3_600 },
    )
  }

  async #find(request: IdempotentRequest, steadyUs: number) {
    const { userId, streamId, key } = request
    const row = await this.#needs.state
      .selectFrom('idempotency_keys')
      .select(['body_digest', 'received_at', 'remembered_at'])
      .where('user_id', '=', userId)
      .where('stream_id', '=', streamId)
      .where('key', '=', key)
      .executeTakeFirst()
    if (!row || row.remembered_at > steadyUs - lifetimeUs) return row
    await this.#forget(request, steadyUs)
    return undefined
  }

  #insertion(request: IdempotentRequest, nowUs: number, steadyUs: number): readonly Compilable[] {
    const { state } = this.#needs
    const { userId, streamId, key, bodyDigest } = request
    return [
      state
        .insertInto('idempotency_keys')
        .columns(['user_id', 'stream_id', 'key', 'body_digest', 'received_at', 'remembered_at'])
        .expression(
          sql`SELECT ${userId}, ${streamId}, ${key}, ${bodyDigest}, ${nowUs},
                ${steadyUs}
                WHERE ${isBelow('receipts', userId, receiptsMax)}`,
        )
        .onConflict((conflict) => conflict.doNothing()),
      countChange(state, 'receipts', userId, 1),
    ]
  }

  /** Removes a portion of what has expired. Resolves with whether there is more. */
  async purge(steadyUs: number): Promise<boolean> {
    return await removeExpired(this.#needs, expiring, steadyUs - lifetimeUs)
  }

  /** Makes room for a new receipt under the same key. */
  async #forget({ userId, streamId, key }: IdempotentRequest, steadyUs: number): Promise<void> {
    const { state, writer } = this.#needs
    await writer.attempt(
      state
        .deleteFrom('idempotency_keys')
        .where('user_id', '=', userId)
        .where('stream_id', '=', streamId)
        .where('key', '=', key)
        // Somebody else may have been faster, and put a new one in its place.
        .where('remembered_at', '<=', steadyUs - lifetimeUs),
      countChange(state, 'receipts', userId, -1),
    )
  }
}

const expiring: Expiring = { table: 'idempotency_keys', column: 'remembered_at', total: 'receipts' }

function repeated(
  known: { readonly body_digest: string; readonly received_at: number },
  { bodyDigest }: IdempotentRequest,
): Receipt {
  if (known.body_digest !== bodyDigest) throw idempotencyConflict()
  return { receivedAtUs: known.received_at, isRepeated: true }
}
