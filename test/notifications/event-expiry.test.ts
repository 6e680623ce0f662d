import { expect, test } from 'vitest'
import { removeOldEvents } from '../../src/outbox/events/event-expiry.ts'
import { dayUs, NotifiedUsers } from '../support/notified-users.ts'

/** Has events removed until none is left that is too old; resolves with how often that was asked for. */
async function expired(users: NotifiedUsers, keptUs: number): Promise<number> {
  const { state } = users.tests
  const clock = { nowUs: () => users.nowUs }
  for (let rounds = 1; ; rounds++) {
    if (!(await removeOldEvents({ state, writer: users.tests, clock, keptUs }))) return rounds
  }
}

async function resources(users: NotifiedUsers): Promise<readonly string[]> {
  const rows = await users.tests.state.selectFrom('events').select('resource_id').execute()
  return rows.map((row) => row.resource_id).toSorted()
}

test('events go after the time that is set, and not before', async () => {
  await using users = await NotifiedUsers.open()
  await users.happen({ resourceId: 'old' })
  users.nowUs += dayUs
  await users.happen({ resourceId: 'new' })

  users.nowUs += 29 * dayUs - 1
  await expired(users, 30 * dayUs)
  expect(await resources(users)).toEqual(['new', 'old'])
  users.nowUs += 1
  await expired(users, 30 * dayUs)
  expect(await resources(users)).toEqual(['new'])
})

test('for two days they stay, as deliveries are tried again for one', async () => {
  await using users = await NotifiedUsers.open()
  await users.happen()

  users.nowUs += 2 * dayUs - 1
  await expired(users, 1)
  expect(await resources(users)).toEqual(['v1'])
  users.nowUs += 1
  await expired(users, 1)
  expect(await resources(users)).toEqual([])
})

test('many go in portions', async () => {
  await using users = await NotifiedUsers.open()
  const happenings = Array.from({ length: 2_500 }, (_, index) =>
    users.recorded({ resourceId: `v${index}` }),
  )
  await users.tests.commit(...happenings.flat())
  // Portions are cut by time: those of one moment go together.
  const rows = await users.tests.state.selectFrom('events').select('id').execute()
  const later = rows.map(({ id }, index) =>
    users.tests.state
      .updateTable('events')
      .set({ at: users.nowUs + index })
      .where('id', '=', id),
  )
  await users.tests.commit(...later)

  users.nowUs += 40 * dayUs
  expect(await expired(users, 30 * dayUs)).toBe(3)
  expect(await resources(users)).toEqual([])
})
