import { type Compilable, sql } from 'kysely'
import { DomainError } from '../../core/errors.ts'
import { idempotencyConflict, keptKey, type SecretDigests } from '../../core/idempotency-key.ts'
import type { UserId } from '../../core/ids.ts'
import { type StateDatabase, type StateWriter, written } from '../../storage/state/database.ts'
import { countChange, isBelow, totalOf } from '../../storage/state/totals.ts'
import {
  type Kept,
  type KeyedRequest,
  type KeyedTable,
  type Kind,
  lifetimeUs,
} from './keyed-request.ts'

/** Rows that one commit removes: about 20 ms, in which no other change is made. */
const removedMax = 10_000

export interface IdempotencyNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly digests: SecretDigests
}

/** A request as it is written down: with digests in place of its key, and of what was made of its body. */
interface DigestedRequest extends Pick<KeyedRequest, 'userId' | 'scope' | 'bodyDigest'> {
  readonly keyDigest: string
}

/** Remembers requests of one kind by their Idempotency-Keys. Now is given in steady time. */
export class IdempotencyStore<Table extends KeyedTable> {
  readonly #needs: IdempotencyNeeds
  readonly #kind: Kind<Table>

  constructor(needs: IdempotencyNeeds, kind: Kind<Table>) {
    this.#needs = needs
    this.#kind = kind
  }

  /**
   * What is remembered of a request, if it came before.
   *
   * @throws DomainError `idempotency_conflict` when it came with another body
   */
  async find(request: KeyedRequest, steadyUs: number): Promise<Kept<Table> | undefined> {
    return await this.#find(this.#digested(request), steadyUs)
  }

  /** Changes for the commit of a request. They find no row when its key is taken, or its user has too many. */
  remember(request: KeyedRequest, kept: Kept<Table>, steadyUs: number): readonly Compilable[] {
    return this.#insertion(this.#digested(request), kept, steadyUs)
  }

  /**
   * What is remembered of the first such request. If it is this one, that is `kept`, durable before this returns.
   *
   * @throws DomainError `idempotency_conflict` when it came with another body, `rate_limited` when
   *   its user has too many
   */
  async first(
    given: KeyedRequest,
    kept: Kept<Table>,
    steadyUs: number,
  ): Promise<{ readonly kept: Kept<Table>; readonly isRepeated: boolean }> {
    const request = this.#digested(given)
    const known = await this.#find(request, steadyUs)
    if (known) return { kept: known, isRepeated: true }
    // One of parallel first requests wins; the others find its row.
    if (await this.#needs.writer.attempt(...this.#insertion(request, kept, steadyUs))) {
      return { kept, isRepeated: false }
    }
    const other = await this.#find(request, steadyUs)
    if (other) return { kept: other, isRepeated: true }
    throw this.#tooMany()
  }

  /** @throws DomainError `rate_limited` when the user has too many */
  async assertRoom(userId: UserId): Promise<void> {
    const { total, max } = this.#kind
    if ((await totalOf(this.#needs.state, total, userId)) >= max) throw this.#tooMany()
  }

  /** Removes a portion of what has expired, the oldest first. Resolves with whether there is more. */
  async purge(steadyUs: number): Promise<boolean> {
    const { table, since, total } = this.#kind
    const [rows, time, beforeUs] = [sql.table(table), sql.ref(since), steadyUs - lifetimeUs]
    const { rows: last } = await sql<{ readonly at: number }>`
      SELECT ${time} AS at FROM ${rows} WHERE ${time} <= ${beforeUs}
      ORDER BY ${time} LIMIT 1 OFFSET ${removedMax - 1}`.execute(this.#needs.state)
    const untilUs = last[0]?.at ?? beforeUs
    await this.#needs.writer.commit(
      this.#needs.state
        .updateTable('totals')
        .set({
          total: sql<number>`total - (SELECT count(*) FROM ${rows}
            WHERE user_id = totals.owner_id AND ${time} <= ${untilUs})`,
        })
        .where('list', '=', total)
        .where(
          'owner_id',
          'in',
          sql<string>`(SELECT user_id FROM ${rows} WHERE ${time} <= ${untilUs})`,
        ),
      written(this.#needs.state, sql`DELETE FROM ${rows} WHERE ${time} <= ${untilUs}`),
    )
    return last.length > 0
  }

  #digested({ userId, scope, key, bodyDigest }: KeyedRequest): DigestedRequest {
    return {
      userId,
      scope,
      keyDigest: keptKey(this.#needs.digests, key),
      bodyDigest: this.#kind.keptBody(this.#needs.digests, bodyDigest),
    }
  }

  async #find(request: DigestedRequest, steadyUs: number): Promise<Kept<Table> | undefined> {
    const { table, since, kept } = this.#kind
    const { rows } = await sql<Kept<Table> & { body_digest: string; since: number }>`
      SELECT ${columns(kept)}, body_digest, ${sql.ref(since)} AS since FROM ${sql.table(table)}
      WHERE ${this.#isOf(request)}`.execute(this.#needs.state)
    const [row] = rows
    if (!row) return undefined
    if (row.since <= steadyUs - lifetimeUs) {
      await this.#forget(request, steadyUs)
      return undefined
    }
    if (row.body_digest !== request.bodyDigest) throw idempotencyConflict()
    return row
  }

  #insertion(
    { userId, scope, keyDigest, bodyDigest }: DigestedRequest,
    kept: Kept<Table>,
    steadyUs: number,
  ): readonly Compilable[] {
    const { kept: names, max, total, table, ...kind } = this.#kind
    const values = sql.join(names.map((name) => kept[name]))
    const insertion = sql`
      INSERT INTO ${sql.table(table)} (user_id, ${sql.ref(kind.scope)}, key, body_digest,
        ${columns(names)}, ${sql.ref(kind.since)})
      SELECT ${userId}, ${scope}, ${keyDigest}, ${bodyDigest}, ${values}, ${steadyUs}
      WHERE ${isBelow(total, userId, max)} ON CONFLICT DO NOTHING`
    return [written(this.#needs.state, insertion), countChange(this.#needs.state, total, userId, 1)]
  }

  /** Makes room for a new one under the same key. */
  async #forget(request: DigestedRequest, steadyUs: number): Promise<void> {
    const { table, since, total } = this.#kind
    // Somebody else may have been faster, and put a new one in its place.
    const deletion = sql`
      DELETE FROM ${sql.table(table)} WHERE ${this.#isOf(request)}
        AND ${sql.ref(since)} <= ${steadyUs - lifetimeUs}`
    await this.#needs.writer.attempt(
      written(this.#needs.state, deletion),
      countChange(this.#needs.state, total, request.userId, -1),
    )
  }

  #isOf({ userId, scope, keyDigest }: DigestedRequest) {
    return sql`user_id = ${userId} AND ${sql.ref(this.#kind.scope)} = ${scope} AND key = ${keyDigest}`
  }

  #tooMany(): DomainError {
    return new DomainError(
      'rate_limited',
      `at most ${this.#kind.max} requests with an Idempotency-Key are remembered in 24 hours`,
      { retryAfter: 3_600 },
    )
  }
}

function columns(names: readonly string[]) {
  return sql.join(names.map((name) => sql.ref(name)))
}
