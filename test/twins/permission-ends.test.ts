import { beforeEach, describe, expect, test } from 'vitest'
import type { UserId } from '../../src/core/ids.ts'
import type { StateWriter } from '../../src/storage/state/database.ts'
import { EndsPass } from '../../src/twins/permissions/ends-pass.ts'
import type { SharedResource } from '../../src/twins/permissions/permission.ts'
import { PermissionEnds } from '../../src/twins/permissions/permission-ends.ts'
import type { SharedType } from '../../src/twins/rights/right.ts'
import { SharedTwins } from '../support/shared-twins.ts'

const secondUs = 1_000_000
const types: readonly SharedType[] = ['vault', 'asset_stream']
const revokedOf = {
  vault: ['vault.permission.revoked', 'vault.permission_changed'],
  asset_stream: ['stream.permission.revoked'],
} as const

/** An owner and a holder of a permission, and nothing that they were told before. */
async function sharing(twins: SharedTwins, type: SharedType, expiresAtUs?: number) {
  const owner = await twins.tests.newUser()
  const holder = await twins.tests.newUser()
  const resource = await twins.newResource(owner, type)
  expect(await twins.grant(resource, holder, { expiresAtUs })).toBe(true)
  await twins.tests.commit(twins.tests.state.deleteFrom('events'))
  return { owner, holder, resource }
}

describe.each(types)('a permission of %s', (type) => {
  test('counts no more once its time is over, and is told of as ended then', async () => {
    await using twins = await SharedTwins.open()
    const untilUs = twins.clock.nowUs() + secondUs
    const { owner, holder, resource } = await sharing(twins, type, untilUs)

    expect(await twins.endAll()).toBe(0)
    twins.clock.atUs = untilUs - 1
    expect(await twins.permissions.findOf(resource, holder)).toBeDefined()
    twins.clock.atUs = untilUs
    expect(await twins.permissions.findOf(resource, holder)).toBeUndefined()
    expect(await twins.permissions.listPage(resource, { offset: 0, limit: 9 })).toEqual({
      items: [],
      total: 0,
    })
    expect(await twins.counted(owner)).toEqual([1, 1, 1])

    expect(await twins.endAll()).toBe(1)
    expect(await twins.counted(owner)).toEqual([0, 0, 0])
    for (const id of [owner, holder]) expect(await twins.toldTo(id)).toEqual(revokedOf[type])
    expect(await twins.endsInLog()).toMatchObject([
      { who: undefined, reason: 'expired', type, resourceId: resource.id, userId: holder },
    ])
  })

  test('ends with its resource, at once', async () => {
    await using twins = await SharedTwins.open()
    const { owner, holder, resource } = await sharing(twins, type)
    await twins.tests.commit(twins.tests.state.deleteFrom('events'))
    expect(await twins.deleteResource(resource)).toBe(true)

    expect(await twins.permissions.findOf(resource, holder)).toBeUndefined()
    await twins.endAll()
    expect(await twins.counted(owner)).toEqual([0, 0, 0])
    for (const id of [owner, holder]) expect(await twins.toldTo(id)).toEqual(revokedOf[type])
    expect(await twins.endsInLog()).toMatchObject([{ reason: 'resource_deleted' }])
  })

  test.each(['owner', 'holder'] as const)(
    'ends with its %s, at once, and the other one is told',
    async (who) => {
      await using twins = await SharedTwins.open()
      const parties = await sharing(twins, type)
      const { owner, holder, resource } = parties
      const other = who === 'owner' ? holder : owner
      await twins.deleteUser(parties[who])

      expect(await twins.permissions.findOf(resource, holder)).toBeUndefined()
      await twins.endAll()
      expect(await twins.counted(owner)).toEqual([0, 0, 0])
      expect(await twins.toldTo(parties[who])).toEqual([])
      expect(await twins.toldTo(other)).toEqual(revokedOf[type])
      expect(await twins.endsInLog()).toMatchObject([{ reason: 'user_deleted' }])
    },
  )

  test('is over, however the clock is set once its owner is deleted', async () => {
    await using twins = await SharedTwins.open()
    const { owner, holder, resource } = await sharing(twins, type)
    await twins.deleteUser(owner)
    twins.clock.step(-3_600 * secondUs)

    expect(await twins.permissions.findOf(resource, holder)).toBeUndefined()
    expect(await twins.endAll()).toBe(1)
  })

  test('makes room for another one of the same two before it is ended', async () => {
    await using twins = await SharedTwins.open()
    const untilUs = twins.clock.nowUs() + secondUs
    const { owner, holder, resource } = await sharing(twins, type, untilUs)
    await twins.ends.endOfPair(resource.id, holder)
    expect(await twins.grant(resource, holder)).toBe(false)

    twins.clock.atUs = untilUs
    await twins.ends.endOfPair(resource.id, holder)
    expect(await twins.grant(resource, holder, { role: 'WRITE' })).toBe(true)

    expect(await twins.counted(owner)).toEqual([1, 1, 1])
    expect((await twins.permissions.findOf(resource, holder))?.role).toBe('WRITE')
    expect(await twins.endsInLog()).toMatchObject([{ reason: 'expired' }])
    expect(await twins.endAll()).toBe(0)
  })
})

test('what had ended before keeps its reason', async () => {
  await using twins = await SharedTwins.open()
  const untilUs = twins.clock.nowUs() + secondUs
  const { holder, resource } = await sharing(twins, 'vault', untilUs)
  twins.clock.atUs = untilUs
  await twins.deleteUser(holder)
  await twins.deleteResource(resource)
  await twins.endAll()

  expect(await twins.endsInLog()).toMatchObject([{ reason: 'expired' }])
})

test('what ends with its owner keeps that reason, although its time comes before it is ended', async () => {
  await using twins = await SharedTwins.open()
  const untilUs = twins.clock.nowUs() + secondUs
  const { owner } = await sharing(twins, 'vault', untilUs)
  await twins.deleteUser(owner)
  twins.clock.atUs = untilUs
  await twins.endAll()

  expect(await twins.endsInLog()).toMatchObject([{ reason: 'user_deleted' }])
})

test.each(['owner', 'holder'] as const)(
  'very many end with their %s: nothing of them is touched by the deletion, and none counts',
  async (who) => {
    await using twins = await SharedTwins.open()
    const parties = { owner: await twins.tests.newUser(), holder: await twins.tests.newUser() }
    const resources: SharedResource[] = []
    for (let made = 0; made < 120; made++) {
      const resource = await twins.newResource(parties.owner)
      await twins.grant(resource, parties.holder)
      resources.push(resource)
    }
    const rows = async () =>
      await twins.tests.state.selectFrom('permissions').selectAll().orderBy('id').execute()
    const before = await rows()
    await twins.deleteUser(parties[who])

    expect(await rows()).toEqual(before)
    for (const resource of resources) {
      expect(await twins.permissions.findOf(resource, parties.holder)).toBeUndefined()
    }
    // A holder who was deleted asks for no list.
    if (who === 'owner') expect(await twins.vaultsOf(parties.holder)).toEqual([[], 0])
    expect(await twins.endAll()).toBe(3)
    expect(await twins.counted(parties.owner)).toEqual([0, 0, 0])
    expect(await twins.tests.state.selectFrom('departed_users').selectAll().execute()).toEqual([])
  },
)

describe('many that end at once', () => {
  const count = 230
  let twins: SharedTwins
  let owner: UserId

  beforeEach(async () => {
    twins = await SharedTwins.open()
    owner = await twins.tests.newUser()
    const resource = await twins.newResource(owner)
    for (let made = 0; made < count; made++) {
      await twins.grant(resource, await twins.tests.newUser())
    }
    await twins.deleteResource(resource)
    await twins.tests.commit(twins.tests.state.deleteFrom('events'))
    return () => twins[Symbol.asyncDispose]()
  })

  async function revocations() {
    return (await twins.toldTo(owner)).filter((type) => type === 'vault.permission.revoked').length
  }

  test('end in portions, each once, wherever that is broken off', async () => {
    let commits = 0
    const broken: StateWriter = {
      commit: (...changes) => twins.tests.commit(...changes),
      // Before and after a portion is on the disk: whoever asked hears of neither.
      async attempt(...changes) {
        commits++
        if (commits % 3 === 1) throw new Error('killed before it')
        const isMade = await twins.tests.attempt(...changes)
        if (commits % 3 === 2) throw new Error('killed after it')
        return isMade
      },
    }
    for (let isMore = true; isMore; ) {
      isMore = await new PermissionEnds(twins.needs(broken)).endSome().catch(() => true)
      const [rows, ...totals] = await twins.counted(owner)
      expect([...totals, await revocations()]).toEqual([rows, rows, count - rows])
    }

    expect(commits).toBeGreaterThan(4)
    expect(await twins.counted(owner)).toEqual([0, 0, 0])
    expect(await twins.endsInLog()).toHaveLength(count)
  })

  test('end once, although several end them at the same time', async () => {
    await Promise.all([twins.endAll(), twins.endAll(), twins.endAll()])

    expect(await twins.counted(owner)).toEqual([0, 0, 0])
    expect(await revocations()).toBe(count)
  })

  test('are ended by a pass, one portion after the other', async () => {
    const failures: unknown[] = []
    const pass = new EndsPass(twins.ends, (error) => failures.push(error))
    pass.start()
    await expect.poll(async () => await twins.counted(owner)).toEqual([0, 0, 0])
    await pass.stop()

    expect(failures).toEqual([])
  })
})
