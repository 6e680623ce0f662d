import * as fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { AgeClock } from '../../src/core/age-clock.ts'
import type { UserId } from '../../src/core/ids.ts'
import { removeUserRemains } from '../../src/identity/users/user-remains.ts'
import { countChange, lists, totalOf } from '../../src/storage/state/totals.ts'
import { mistaken, mistakes } from '../support/clock-moves.ts'
import { HandClock } from '../support/hand-clock.ts'
import { TestState } from '../support/test-state.ts'

const dayUs = 24 * 3_600 * 1_000_000
const clock = new HandClock()
const ages = new AgeClock(clock)

async function deletedUser(subject: TestState, agoUs = dayUs + 1): Promise<UserId> {
  const id = await subject.newUser()
  await subject.commit(
    subject.state
      .updateTable('users')
      .set({ deleted_at: clock.nowUs() - agoUs })
      .where('id', '=', id),
  )
  return id
}

async function users({ state }: TestState): Promise<readonly string[]> {
  const rows = await state.selectFrom('users').select('id').execute()
  return rows.map(({ id }) => id)
}

async function remove({ state }: TestState): Promise<void> {
  await removeUserRemains({ state, ages })
}

/** Each table with a column that refers to users, by the schema itself. */
async function ownedTables({ state }: TestState) {
  const { rows } = await sql<{ readonly name: string; readonly column: string }>`
    SELECT tables.name, keys."from" AS "column"
    FROM sqlite_schema AS tables, pragma_foreign_key_list(tables.name) AS keys
    WHERE tables.type = 'table' AND keys."table" = 'users'`.execute(state)
  return rows
}

/** A row of whatever, but for one column. */
async function insertRow({ state }: TestState, table: string, known: Record<string, unknown>) {
  const { rows: columns } = await sql<{ readonly name: string; readonly type: string }>`
    SELECT name, type FROM pragma_table_info(${table})
    WHERE "notnull" = 1 OR pk > 0`.execute(state)
  const row = new Map<string, unknown>(
    columns.map(({ name, type }) => [name, type === 'TEXT' ? `${table} ${name}` : 1]),
  )
  for (const [name, value] of Object.entries(known)) row.set(name, value)
  await sql`PRAGMA foreign_keys = OFF`.execute(state)
  await sql`INSERT INTO ${sql.table(table)} (${sql.join([...row.keys()].map((name) => sql.ref(name)))})
    VALUES (${sql.join([...row.values()])})`.execute(state)
  await sql`PRAGMA foreign_keys = ON`.execute(state)
}

test('of a user who owns nothing nothing is left a day after the deletion', async () => {
  await using subject = await TestState.open()
  const id = await deletedUser(subject)
  const stays = await subject.newUser()
  for (const owner of [id, stays]) {
    for (const list of lists) await subject.commit(countChange(subject.state, list, owner, 1))
    await insertRow(subject, 'inboxes', { owner_id: owner })
    await insertRow(subject, 'favorites', { owner_id: owner, id: `favourite of ${owner}` })
  }
  await remove(subject)

  expect(await users(subject)).toEqual([stays])
  for (const table of ['totals', 'inboxes', 'favorites'] as const) {
    const rows = await subject.state.selectFrom(table).select('owner_id').distinct().execute()
    expect(rows.map(({ owner_id: owner }) => owner).filter((owner) => owner !== '')).toEqual([
      stays,
    ])
  }
  expect(await totalOf(subject.state, 'devices', stays)).toBe(1)
})

test('a user who was deleted a moment ago, may still be written about', async () => {
  await using subject = await TestState.open()
  const id = await deletedUser(subject, dayUs - 1)
  await remove(subject)

  expect(await users(subject)).toEqual([id])
})

test('whatever a user still owns keeps the user, in each table that refers to users', async () => {
  await using subject = await TestState.open()
  const tables = (await ownedTables(subject)).filter(({ name }) => name !== 'favorites')
  const owners: string[] = []
  for (const { name, column } of tables) {
    const owner = await deletedUser(subject)
    await insertRow(subject, name, { [column]: owner })
    owners.push(owner)
  }
  await deletedUser(subject)
  await remove(subject)

  expect(tables.length).toBeGreaterThan(5)
  expect(new Set(await users(subject))).toEqual(new Set(owners))
})

test.each(['owner_id', 'user_id'])(
  'a permission keeps the user whom its %s names, until its end is told',
  async (column) => {
    await using subject = await TestState.open()
    const id = await deletedUser(subject)
    await insertRow(subject, 'permissions', { [column]: id })
    await subject.commit(countChange(subject.state, 'permissions', id, 1))
    await remove(subject)
    expect(await users(subject)).toEqual([id])

    await subject.commit(subject.state.deleteFrom('permissions'))
    await remove(subject)
    expect(await users(subject)).toEqual([])
  },
)

test('an inbox with entries stays, and its owner, until the last one is gone', async () => {
  await using subject = await TestState.open()
  const id = await deletedUser(subject)
  await insertRow(subject, 'inboxes', { owner_id: id })
  await insertRow(subject, 'inbox_entries', { owner_id: id })
  await remove(subject)
  expect(await users(subject)).toEqual([id])

  await subject.commit(subject.state.deleteFrom('inbox_entries'))
  await remove(subject)
  expect(await users(subject)).toEqual([])
  expect(await subject.state.selectFrom('inboxes').selectAll().execute()).toEqual([])
})

test('very many users leave in portions', async () => {
  await using subject = await TestState.open()
  await sql`INSERT INTO users (id, username, created_at, deleted_at)
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1001)
    SELECT 'user ' || n, 'name ' || n, 1, 1 FROM numbers`.execute(subject.state)
  await remove(subject)

  expect(await users(subject)).toEqual([])
})

test('however far the wall clock is set forward by mistake, a user who is gone leaves a day later', async () => {
  await using subject = await TestState.open()
  await fc.assert(
    fc.asyncProperty(mistakes, async (some) => {
      const goneUs = new Map<string, number>()
      for (const mistake of some) {
        goneUs.set(await deletedUser(subject, 0), clock.nowUs())
        await mistaken(clock, mistake, () => remove(subject))
        const kept = [...goneUs].filter(([, atUs]) => atUs >= clock.nowUs() - dayUs)
        expect((await users(subject)).toSorted()).toEqual(kept.map(([id]) => id).toSorted())
      }
      clock.atUs += 2 * dayUs
      await remove(subject)
    }),
    { numRuns: 20 },
  )
})
