import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { removeExpired } from '../../src/storage/state/expiry.ts'
import { countChange, totalOf } from '../../src/storage/state/totals.ts'
import { TestState } from '../support/test-state.ts'

const expiring = { table: 'idempotency_keys', column: 'remembered_at', total: 'receipts' } as const

/** Receipts of two users, one in each microsecond, taking turns. */
async function fill({ state }: TestState, count: number): Promise<void> {
  await sql`INSERT INTO idempotency_keys (user_id, stream_id, key, body_digest, received_at, remembered_at)
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    SELECT CASE n % 2 WHEN 0 THEN 'even' ELSE 'odd' END, 's', 'key ' || n, 'd', n, n
    FROM numbers`.execute(state)
  await sql`INSERT INTO totals
    SELECT 'receipts', user_id, count(*) FROM idempotency_keys GROUP BY user_id`.execute(state)
}

async function left({ state }: TestState): Promise<readonly number[]> {
  const rows = await state
    .selectFrom('idempotency_keys')
    .select('remembered_at')
    .orderBy('remembered_at')
    .execute()
  const counted =
    (await totalOf(state, 'receipts', 'even')) + (await totalOf(state, 'receipts', 'odd'))
  expect(counted).toBe(rows.length)
  return rows.map((row) => row.remembered_at)
}

test('what has expired is removed and no longer counted, and nothing else', async () => {
  await using subject = await TestState.open()
  await fill(subject, 10)
  await subject.commit(countChange(subject.state, 'receipts', 'bystander', 1))

  const isMoreLeft = await removeExpired({ state: subject.state, writer: subject }, expiring, 7)

  expect(isMoreLeft).toBe(false)
  expect(await left(subject)).toEqual([8, 9, 10])
  expect(await totalOf(subject.state, 'receipts', 'bystander')).toBe(1)
})

test('very much of it is removed in several commits, the oldest first', async () => {
  await using subject = await TestState.open()
  await fill(subject, 25_000)
  const remove = () => removeExpired({ state: subject.state, writer: subject }, expiring, 24_000)

  expect(await remove()).toBe(true)
  expect((await left(subject))[0]).toBe(10_001)
  expect(await remove()).toBe(true)
  expect(await remove()).toBe(false)
  expect(await left(subject)).toHaveLength(1_000)
})
