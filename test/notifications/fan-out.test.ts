import { describe, expect, test } from 'vitest'
import { newId, type UserId } from '../../src/core/ids.ts'
import { bodyOf } from '../../src/outbox/events/event-body.ts'
import type { StateDatabase } from '../../src/storage/state/database.ts'
import { NotifiedUsers } from '../support/notified-users.ts'

describe('an event is told in the transaction of the change that caused it', () => {
  test('with the bytes that every webhook gets', async () => {
    await using users = await NotifiedUsers.open()

    expect(await users.tests.attempt(...users.recorded())).toBe(true)

    const known = { ownerId: users.ada, vaultId: 'v1', templateId: 't', atUs: users.nowUs }
    expect(users.told).toMatchObject([{ type: 'vault.created', ...known }])
    const stamp = '2023-11-14T22:13:20.123456'
    expect(users.told.map(bodyOf)).toEqual([
      `{"event_type":"vault.created","timestamp":"${stamp}","data":{"id":"v1","name":"boiler"}}`,
    ])
    expect(users.heard).toEqual([[users.ada]])
    expect(await users.outcomes()).toEqual([1])
  })

  test('in the forthcoming format, where the type has that one', async () => {
    await using users = await NotifiedUsers.open()

    await users.happen({ type: 'vault.verification_complete' })

    expect(users.told.map(bodyOf)).toEqual([
      `{"eventType":"vault.verification_complete","eventId":"${users.told[0]?.id}",` +
        '"timestamp":"2023-11-14T22:13:20.123456Z","data":{"id":"v1","name":"boiler"}}',
    ])
  })

  test('without an entry in the inbox, where it is quiet', async () => {
    await using users = await NotifiedUsers.open()

    await users.happen({ isQuiet: true })

    expect(users.told).toMatchObject([{ type: 'vault.created', isQuiet: true }])
    expect(await users.entryIds()).toEqual([])
    await users.happen({ resourceId: 'v2' })
    expect(await users.entryIds()).toHaveLength(1)
  })

  test('never, when the change is taken back', async () => {
    await using users = await NotifiedUsers.open()
    const nobody = users.tests.state.deleteFrom('users').where('id', '=', 'nobody')

    expect(await users.tests.attempt(...users.recorded(), nobody)).toBe(false)
    await users.happen({ resourceId: 'v2' })

    expect(users.told.map(({ resourceId }) => resourceId)).toEqual(['v2'])
    expect(users.heard).toEqual([[users.ada]])
  })

  test('or the change is not made', async () => {
    let isBroken = true
    await using users = await NotifiedUsers.open(async () => {
      if (isBroken) throw new Error('the disk is full')
      return 0
    })
    await users.tests.newUser()
    const renamed = users.tests.state.updateTable('users').set({ first_name: 'Ada' })

    await expect(users.tests.commit(renamed, ...users.recorded())).rejects.toThrow(
      'the disk is full',
    )

    expect(await users.outcomes()).toEqual([])
    expect(await users.entryIds()).toEqual([])
    expect(users.heard).toEqual([])
    const user = await users.tests.state.selectFrom('users').selectAll().executeTakeFirst()
    expect(user?.first_name).not.toBe('Ada')
    isBroken = false
    // What was not written down suppresses nothing.
    expect(await users.happen()).toBe(true)
  })

  test('and what a step wants done afterwards is done only if it is committed', async () => {
    const done: string[] = []
    await using users = await NotifiedUsers.open(async (_, { resourceId }, __, afterwards) => {
      afterwards(() => done.push(resourceId))
      if (resourceId === 'v1') throw new Error('the disk is full')
      return 0
    })

    await expect(users.happen()).rejects.toThrow('the disk is full')
    await users.happen({ resourceId: 'v2' })

    expect(done).toEqual(['v2'])
  })

  test('every one of many', async () => {
    await using users = await NotifiedUsers.open()
    const ids = Array.from({ length: 120 }, (_, index) => `v${index}`)
    const bob = newId<UserId>()

    await users.tests.commit(
      ...ids.flatMap((resourceId) => users.recorded({ resourceId })),
      ...users.recorded({ ownerId: bob }),
    )

    const told = users.told.filter(({ ownerId }) => ownerId === users.ada)
    expect(new Set(told.map(({ resourceId }) => resourceId))).toEqual(new Set(ids))
    expect(await users.outcomes()).toEqual(Array.from({ length: 121 }, () => 1))
    expect(users.heard.map((owners) => new Set(owners))).toEqual([new Set([users.ada, bob])])
  })
})

/** Makes many vaults at once. Their names are in the order of their events. */
async function manyHappen(users: NotifiedUsers, count: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, (_, index) => `v${String(index).padStart(4, '0')}`)
  const changes = ids.flatMap((resourceId) => {
    users.nowUs++
    return users.recorded({ resourceId })
  })
  await users.tests.commit(...changes)
  return ids
}

/** Takes back each transaction at its end. */
function unableToCommit(state: StateDatabase): StateDatabase {
  const execute = async (work: (transaction: StateDatabase) => Promise<unknown>) =>
    await state.transaction().execute(async (transaction) => {
      await work(transaction)
      throw new Error('the disk is full')
    })
  return { transaction: () => ({ execute }) } as unknown as StateDatabase
}

const toldTo = (users: NotifiedUsers, ownerId: UserId) =>
  users.told.filter((one) => one.ownerId === ownerId).map(({ resourceId }) => resourceId)

describe('of more events than one transaction tells', () => {
  test('some are told with them, and the others in portions, all in their order', async () => {
    await using users = await NotifiedUsers.open()
    const ids = await manyHappen(users, 500)
    expect(users.told).toHaveLength(200)
    expect(users.fanOut.status().usersWaiting).toBe(1)
    users.nowUs++
    expect(await users.happen({ resourceId: 'later' })).toBe(false)

    await users.fanOut.catchUp(users.tests.state, users.ada)
    expect(users.told).toHaveLength(400)
    await users.fanOut.catchUp(users.tests.state, users.ada)

    expect(toldTo(users, users.ada)).toEqual([...ids, 'later'])
    expect(users.fanOut.status().usersWaiting).toBe(0)
    expect(new Set(await users.outcomes())).toEqual(new Set([1]))
    users.nowUs++
    expect(await users.happen({ resourceId: 'after that' })).toBe(true)
  })

  test('those that go to many webhooks are fewer', async () => {
    await using users = await NotifiedUsers.open(async () => 100)
    await manyHappen(users, 10)
    expect(users.told).toHaveLength(4)
    await users.fanOut.catchUp(users.tests.state, users.ada)
    expect(users.told).toHaveLength(8)
  })

  test('those of other users do not wait for them', async () => {
    await using users = await NotifiedUsers.open()
    await manyHappen(users, 400)
    const bob = newId<UserId>()
    expect(await users.happen({ ownerId: bob })).toBe(true)
  })

  test('those that wait are told by and by, one user after the other, whatever fails', async () => {
    let failures = 1
    await using users = await NotifiedUsers.open(async () => {
      if (users.told.length === 400 && failures-- > 0) throw new Error('the disk is full')
      return 0
    })
    const bob = newId<UserId>()
    const ids = await manyHappen(users, 600)
    const ofBob = ids.flatMap((resourceId) => {
      users.nowUs++
      return users.recorded({ resourceId, ownerId: bob })
    })
    await users.tests.commit(...ofBob)
    const stopping = new AbortController()
    const failed: unknown[] = []
    const { state } = users.tests
    const running = users.fanOut.run(state, stopping.signal, (error) => failed.push(error))

    await expect.poll(() => toldTo(users, bob)).toEqual(ids)
    await expect.poll(() => toldTo(users, users.ada)).toEqual(ids)
    expect(failed).toHaveLength(1)
    // Events of the other user are told before all that waits of the first.
    const firstOfBob = users.told.findIndex(({ ownerId }) => ownerId === bob)
    expect(users.told.slice(firstOfBob).some(({ ownerId }) => ownerId === users.ada)).toBe(true)
    stopping.abort()
    await running
  })

  test('those of a transaction that could not be committed wait on', async () => {
    await using users = await NotifiedUsers.open()
    await manyHappen(users, 300)
    const { state } = users.tests

    await expect(users.fanOut.catchUp(unableToCommit(state), users.ada)).rejects.toThrow('disk')
    expect(users.fanOut.status().usersWaiting).toBe(1)

    await users.fanOut.catchUp(state, users.ada)
    expect(users.fanOut.status().usersWaiting).toBe(0)
    expect(new Set(await users.outcomes())).toEqual(new Set([1]))
  })

  test('what was left over by another process is told, too', async () => {
    await using users = await NotifiedUsers.open()
    const { state } = users.tests
    for (const change of users.recorded()) await state.executeQuery(change.compile())

    await users.fanOut.open(state)
    users.nowUs++
    expect(await users.happen({ resourceId: 'v2' })).toBe(false)
    await users.fanOut.catchUp(state, users.ada)

    expect(toldTo(users, users.ada)).toEqual(['v1', 'v2'])
  })
})
