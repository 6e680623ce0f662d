import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AgeClock } from '../../src/core/age-clock.ts'
import { removeOldEvents } from '../../src/outbox/events/event-expiry.ts'
import { mistaken, mistakes } from '../support/clock-moves.ts'
import { dayUs, NotifiedUsers } from '../support/notified-users.ts'

/** Has events removed until none is left that is too old; resolves with how often that was asked for. */
async function expired(
  users: NotifiedUsers,
  keptUs: number,
  ages = new AgeClock(users.clock),
): Promise<number> {
  const { state } = users.tests
  for (let rounds = 1; ; rounds++) {
    if (!(await removeOldEvents({ state, writer: users.tests, ages, keptUs }))) return rounds
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

test('however far the wall clock is set forward by mistake, events go when they are old enough', async () => {
  await using users = await NotifiedUsers.open()
  const ages = new AgeClock(users.clock)
  await fc.assert(
    fc.asyncProperty(mistakes, async (some) => {
      await users.tests.state.deleteFrom('events').execute()
      const madeUs = new Map<string, number>()
      for (const [place, mistake] of some.entries()) {
        await users.happen({ resourceId: `${place}` })
        madeUs.set(`${place}`, users.clock.steadyUs())
        await mistaken(users.clock, mistake, () => expired(users, 7 * dayUs, ages))
        const oldUs = users.clock.steadyUs() - 7 * dayUs
        const kept = [...madeUs].filter(([, atUs]) => atUs > oldUs).map(([name]) => name)
        expect(await resources(users)).toEqual(kept.toSorted())
      }
    }),
    { numRuns: 20 },
  )
})
