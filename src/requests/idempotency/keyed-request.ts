import { keptBodyDigest, type SecretDigests } from '../../core/idempotency-key.ts'
import type { UserId } from '../../core/ids.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import type { Total } from '../../storage/state/totals.ts'

/** How long a request is remembered (decisions.md#idempotency-key). */
export const lifetimeUs = 24 * 3_600 * 1_000_000

/** A request that may come again: who, what about, and the key that they gave it. */
export interface KeyedRequest {
  readonly userId: UserId
  /** Place that the key counts in: under another one the key is that of another request. */
  readonly scope: string
  readonly key: string
  /** SHA-256 of the body: the same key with another body is a mistake. */
  readonly bodyDigest: string
}

/**
 * Each kind has a table of its own. A sender waits for a receipt to be found and made, among rows that are short and next
 * to each other; answers, which may be long, would lie in between. Receipts also go with their streams.
 */
export type KeyedTable = 'idempotent_answers' | 'idempotency_keys'

type ScopeColumn = 'path' | 'stream_id'

/** The steady time from which the lifetime counts. An index begins with it. */
type SinceColumn = 'created_at' | 'remembered_at'

/** What a table has of a request, beside what it knows it by. */
export type Kept<Table extends KeyedTable> = Omit<
  StateSchema[Table],
  'user_id' | ScopeColumn | 'key' | 'body_digest' | SinceColumn
>

/** Requests of which the same is remembered: where, and how many. */
export interface Kind<Table extends KeyedTable> {
  readonly table: Table
  readonly scope: ScopeColumn & keyof StateSchema[Table]
  readonly since: SinceColumn & keyof StateSchema[Table]
  readonly kept: readonly (string & keyof Kept<Table>)[]
  readonly total: Total
  /** How many are remembered of one user: more would let one user fill the disk. */
  readonly max: number
  /** What is written down of the digest of a body. */
  readonly keptBody: (digests: SecretDigests, bodyDigest: string) => string
}

/** POSTs, and what they were answered. Their scope is the route, with the ids in its path. */
export const answerKind: Kind<'idempotent_answers'> = {
  table: 'idempotent_answers',
  scope: 'path',
  since: 'created_at',
  kept: ['status_code', 'body_encrypted'],
  total: 'idempotent_answers',
  max: 100_000,
  keptBody: keptBodyDigest,
}

/** Readings, and when they were received. Their scope is the stream. */
export const receiptKind: Kind<'idempotency_keys'> = {
  table: 'idempotency_keys',
  scope: 'stream_id',
  since: 'remembered_at',
  kept: ['received_at'],
  total: 'receipts',
  max: 1_000_000,
  // Bodies of readings alone have no secret in them.
  keptBody: (_, bodyDigest) => bodyDigest,
}
