import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { countChange } from '../../src/storage/state/totals.ts'
import {
  permissionsMax,
  permissionsOfResourceMax,
  type SharedResource,
  type Terms,
} from '../../src/twins/permissions/permission.ts'
import { UnknownUsers } from '../../src/twins/permissions/unknown-users.ts'
import { HandClock } from '../support/hand-clock.ts'
import { SharedTwins } from '../support/shared-twins.ts'

/** Permissions of a resource for users that there need not be. */
async function insertMany(
  { tests }: SharedTwins,
  { id, ownerId }: SharedResource,
  { count, expiresAtUs = null }: { readonly count: number; readonly expiresAtUs?: number | null },
): Promise<void> {
  await sql`INSERT INTO permissions (id, resource_type, resource_id, resource_created_at, owner_id,
      user_id, role, granted_by, created_at, expires_at)
    WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${count})
    SELECT 'permission ' || n, 'vault', ${id}, 1, ${ownerId}, 'user ' || n, 'READ', ${ownerId}, 1,
      ${expiresAtUs} FROM numbers`.execute(tests.state)
}

test('a resource has no more permissions than there may be', async () => {
  await using twins = await SharedTwins.open()
  const owner = await twins.tests.newUser()
  const resource = await twins.newResource(owner)
  const one = { count: permissionsOfResourceMax - 1 }
  await insertMany(twins, resource, one)

  expect(await twins.grant(resource, await twins.tests.newUser())).toBe(true)
  expect(await twins.grant(resource, await twins.tests.newUser())).toBe(false)
  expect(await twins.grant(await twins.newResource(owner), await twins.tests.newUser())).toBe(true)
})

test('those whose time is over take no room', async () => {
  await using twins = await SharedTwins.open()
  const owner = await twins.tests.newUser()
  const resource = await twins.newResource(owner)
  const expiresAtUs = twins.clock.nowUs()
  await insertMany(twins, resource, { count: permissionsOfResourceMax, expiresAtUs })

  expect(await twins.grant(resource, await twins.tests.newUser())).toBe(true)
})

test('an owner grants no more permissions than one may', async () => {
  await using twins = await SharedTwins.open()
  const owner = await twins.tests.newUser()
  const resource = await twins.newResource(owner)
  const { state } = twins.tests
  await twins.tests.commit(countChange(state, 'permissions', owner, permissionsMax - 1))

  expect(await twins.grant(resource, await twins.tests.newUser())).toBe(true)
  expect(await twins.permissions.hasRoom(owner)).toBe(false)
  expect(await twins.grant(resource, await twins.tests.newUser())).toBe(false)
})

test.each(['owner', 'holder', 'resource'] as const)(
  'none is granted when the %s is deleted meanwhile',
  async (gone) => {
    await using twins = await SharedTwins.open()
    const parties = { owner: await twins.tests.newUser(), holder: await twins.tests.newUser() }
    const resource = await twins.newResource(parties.owner)
    if (gone === 'resource') await twins.deleteResource(resource)
    else await twins.deleteUser(parties[gone])

    expect(await twins.grant(resource, parties.holder)).toBe(false)
    expect(await twins.counted(parties.owner)).toEqual([0, 0, 0])
    expect(await twins.toldTo(parties.holder)).toEqual([])
  },
)

test('names that nobody has are limited by the minute, whatever the wall clock shows', () => {
  const clock = new HandClock()
  const names = new UnknownUsers(clock.monotonicMs)
  const [ada, bob] = ['ada', 'bob'] as unknown as readonly Parameters<UnknownUsers['count']>[0][]
  if (ada === undefined || bob === undefined) throw new Error('nobody asks')
  for (let count = 0; count < 20; count++) {
    names.assertMayLearn(ada)
    names.count(ada)
    clock.atUs += 1_000_000
  }

  const limited = expect.objectContaining({ code: 'rate_limited', retryAfter: 40 }) as Error
  expect(() => names.assertMayLearn(ada)).toThrow(limited)
  names.assertMayLearn(bob)
  clock.step(3_600_000_000)
  expect(() => names.assertMayLearn(ada)).toThrow(limited)
  clock.atUs += 40_000_000
  names.assertMayLearn(ada)
  names.count(ada)
  expect(() => names.assertMayLearn(ada)).toThrow('too many usernames')
})

test('a change is made of what a permission says now, and not of what it said before another', async () => {
  await using twins = await SharedTwins.open()
  const [owner, holder] = [await twins.tests.newUser(), await twins.tests.newUser()]
  const resource = await twins.newResource(owner)
  await twins.grant(resource, holder)
  const permission = await twins.permissions.findOf(resource, holder)
  if (permission === undefined) throw new Error('none was granted')
  const actor = { userId: owner, apiKeyId: 'by which key' }
  const change = (terms: Terms) => twins.permissions.change(resource, { permission, terms }, actor)
  expect(await change({ role: 'WRITE', expiresAtUs: undefined })).toBeDefined()

  expect(await change({ role: 'READ', expiresAtUs: twins.clock.nowUs() + 1 })).toBeUndefined()
  expect((await twins.permissions.findOf(resource, holder))?.role).toBe('WRITE')
})
