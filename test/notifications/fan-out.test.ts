import { describe, expect, test } from 'vitest'
import { newId, type UserId } from '../../src/core/ids.ts'
import { bodyOf } from '../../src/events/event-body.ts'
import { ToldUsers } from '../support/told-users.ts'

describe('D37: an event is told in the transaction of the change that caused it', () => {
  test('with the bytes that every webhook gets', async () => {
    await using users = await ToldUsers.open()

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
    await using users = await ToldUsers.open()

    await users.happen({ type: 'vault.verification_complete' })

    expect(users.told.map(bodyOf)).toEqual([
      `{"eventType":"vault.verification_complete","eventId":"${users.told[0]?.id}",` +
        '"timestamp":"2023-11-14T22:13:20.123456Z","data":{"id":"v1","name":"boiler"}}',
    ])
  })

  test('never, when the change is taken back', async () => {
    await using users = await ToldUsers.open()
    const nobody = users.tests.state.deleteFrom('users').where('id', '=', 'nobody')

    expect(await users.tests.attempt(...users.recorded(), nobody)).toBe(false)
    await users.happen({ resourceId: 'v2' })

    expect(users.told.map(({ resourceId }) => resourceId)).toEqual(['v2'])
    expect(users.heard).toEqual([[users.ada]])
  })

  test('or the change is not made', async () => {
    let isBroken = true
    await using users = await ToldUsers.open(async () => {
      if (isBroken) throw new Error('the disk is full')
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

  test('every one of many', async () => {
    await using users = await ToldUsers.open()
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
