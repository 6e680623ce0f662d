import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { newId, type UserId } from '../../src/core/ids.ts'
import { IdempotencyStore } from '../../src/requests/idempotency/idempotency-store.ts'
import {
  answerKind,
  type Kept,
  type KeyedTable,
  type Kind,
  lifetimeUs,
  receiptKind,
} from '../../src/requests/idempotency/keyed-request.ts'
import { countChange, totalOf } from '../../src/storage/state/totals.ts'
import { TestState } from '../support/test-state.ts'

const digests = new MasterKey(Buffer.alloc(32, 7))

const users = ['even', 'odd'] as const

const request = { userId: newId<UserId>(), scope: 'boiler', key: 'a', bodyDigest: 'd' }

/** What is remembered of a request, telling one from another by a number. */
const receiptOf = (number: number) => ({ received_at: number })
const answerOf = (number: number) => ({ status_code: number, body_encrypted: new Uint8Array(1) })

describe('receipts', () => holdsTo(receiptKind, receiptOf))

describe('answers', () => holdsTo(answerKind, answerOf))

/** What every kind of requests is promised. */
function holdsTo<Table extends KeyedTable>(
  kind: Kind<Table>,
  keptOf: (number: number) => Kept<Table>,
): void {
  const storeOf = (subject: TestState) =>
    new IdempotencyStore({ state: subject.state, writer: subject, digests }, kind)

  /** Requests of two users, one in each microsecond, taking turns. */
  async function fill({ state }: TestState, count: number): Promise<void> {
    const { table, scope, since, kept } = kind
    const names = sql.join([scope, since, ...kept].map((name) => sql.ref(name)))
    const values = sql.join(Object.values(keptOf(7)))
    await sql`INSERT INTO ${sql.table(table)} (user_id, key, body_digest, ${names})
      WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
      SELECT CASE n % 2 WHEN 0 THEN 'even' ELSE 'odd' END, 'key ' || n, 'd', 's', n, ${values}
      FROM numbers`.execute(state)
    await sql`INSERT INTO totals SELECT ${kind.total}, user_id, count(*) FROM ${sql.table(table)}
      GROUP BY user_id`.execute(state)
  }

  async function left({ state }: TestState): Promise<readonly number[]> {
    const { rows } = await sql<{ readonly at: number }>`SELECT ${sql.ref(kind.since)} AS at
      FROM ${sql.table(kind.table)} ORDER BY at`.execute(state)
    const counted = await Promise.all(users.map((user) => totalOf(state, kind.total, user)))
    expect(counted.reduce((sum, total) => sum + total)).toBe(rows.length)
    return rows.map(({ at }) => at)
  }

  test('that have expired are removed and no longer counted, and nothing else', async () => {
    await using subject = await TestState.open()
    await fill(subject, 10)
    await subject.commit(countChange(subject.state, kind.total, 'bystander', 1))

    const isMoreLeft = await storeOf(subject).purge(lifetimeUs + 7)

    expect(isMoreLeft).toBe(false)
    expect(await left(subject)).toEqual([8, 9, 10])
    expect(await totalOf(subject.state, kind.total, 'bystander')).toBe(1)
  })

  test('that have expired are removed in several commits if they are very many, the oldest first', async () => {
    await using subject = await TestState.open()
    await fill(subject, 25_000)
    const remove = () => storeOf(subject).purge(lifetimeUs + 24_000)

    expect(await remove()).toBe(true)
    expect((await left(subject))[0]).toBe(10_001)
    expect(await remove()).toBe(true)
    expect(await remove()).toBe(false)
    expect(await left(subject)).toHaveLength(1_000)
  })

  test('remember the first of a key, whether in the commit of a request or in one of its own', async () => {
    await using subject = await TestState.open()
    const store = storeOf(subject)
    const other = { ...request, key: 'b' }

    expect(await subject.attempt(...store.remember(request, keptOf(1), 0))).toBe(true)
    expect(await subject.attempt(...store.remember(request, keptOf(2), 0))).toBe(false)
    await store.first(other, keptOf(3), 0)

    expect(await store.first(request, keptOf(4), 0)).toMatchObject({
      kept: keptOf(1),
      isRepeated: true,
    })
    expect(await store.find(other, 0)).toMatchObject(keptOf(3))
    expect(await totalOf(subject.state, kind.total, request.userId)).toBe(2)
  })

  test('know a request by its user, scope and key, and hold it to its body', async () => {
    await using subject = await TestState.open()
    const store = storeOf(subject)
    await store.first(request, keptOf(1), 0)

    const others = [{ userId: newId<UserId>() }, { scope: 'pump' }, { key: 'b' }]
    for (const other of others) {
      expect(await store.find({ ...request, ...other }, 0)).toBeUndefined()
    }
    await expect(store.find({ ...request, bodyDigest: 'e' }, 0)).rejects.toMatchObject({
      code: 'idempotency_conflict',
    })
  })

  test('are refused beyond the limit of a user, in the words of the limit', async () => {
    await using subject = await TestState.open()
    const store = storeOf(subject)
    const pretend = (total: number) =>
      subject.commit(
        countChange(subject.state, kind.total, request.userId, 0),
        subject.state.updateTable('totals').set({ total }),
      )
    const refusal = {
      code: 'rate_limited',
      message: `at most ${kind.max} requests with an Idempotency-Key are remembered in 24 hours`,
    }

    await pretend(kind.max)
    await expect(store.first(request, keptOf(1), 0)).rejects.toMatchObject(refusal)
    await expect(store.assertRoom(request.userId)).rejects.toMatchObject(refusal)
    await pretend(kind.max - 1)
    await store.assertRoom(request.userId)
    expect((await store.first(request, keptOf(1), 0)).isRepeated).toBe(false)
  })
}
