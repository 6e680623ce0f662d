import { describe, expect, test } from 'vitest'
import { newId, type UserId } from '../../src/core/ids.ts'
import { dayUs, minuteUs, NotifiedUsers } from '../support/notified-users.ts'

describe('an event that repeats another within five minutes', () => {
  test('is told to nobody, and is not sliding', async () => {
    await using users = await NotifiedUsers.open()

    expect(await users.happen()).toBe(true)
    users.nowUs += 3 * minuteUs
    expect(await users.happen()).toBe(false)
    users.nowUs += 2 * minuteUs - 1
    expect(await users.happen()).toBe(false)
    users.nowUs += 1
    expect(await users.happen()).toBe(true)

    expect(await users.entryIds()).toHaveLength(2)
    expect(await users.outcomes()).toEqual([1, 2, 2, 1])
  })

  test.each([
    ['another resource', { resourceId: 'v2' }],
    ['another type', { type: 'vault.deleted' }],
    ['another user', { ownerId: newId<UserId>() }],
  ] as const)('is none of %s', async (_, other) => {
    await using users = await NotifiedUsers.open()

    await users.happen()

    expect(await users.happen(other)).toBe(true)
  })

  test('is told again within one transaction only for another resource', async () => {
    await using users = await NotifiedUsers.open()
    const other = users.recorded({ resourceId: 'v2' })

    await users.tests.commit(...users.recorded(), ...users.recorded(), ...other)

    expect(users.told.map(({ resourceId }) => resourceId).toSorted()).toEqual(['v1', 'v2'])
  })

  test('is told when the inbox is off, as there is no record', async () => {
    await using users = await NotifiedUsers.open()
    await users.preferences.change(users.ada, { global_preferences: { in_app_enabled: false } })

    expect(await users.happen()).toBe(true)
    expect(await users.happen()).toBe(true)
  })

  test('is told when the inbox has taken all that it takes in this minute', async () => {
    await using users = await NotifiedUsers.open()
    for (let index = 0; index < 100; index++) await users.happen({ resourceId: `v${index}` })

    expect(await users.happen({ resourceId: 'more' })).toBe(true)
    expect(await users.happen({ resourceId: 'more' })).toBe(true)

    expect(await users.entryIds()).toHaveLength(100)
    expect(users.inboxes.refused).toBe(2)
    users.nowUs += minuteUs
    await users.happen({ resourceId: 'more' })
    expect(await users.entryIds()).toHaveLength(101)
    expect(await users.happen({ resourceId: 'more' })).toBe(false)
  })

  test('is told when the record was deleted, and not when it was read or archived', async () => {
    await using users = await NotifiedUsers.open()
    await users.happen()
    const [id] = await users.entryIds()
    if (id === undefined) throw new Error('there is no entry')

    await users.inbox.read(users.ada, id)
    expect(await users.happen()).toBe(false)
    await users.tests.commit(...users.inbox.archiving(users.ada, [id]))
    expect(await users.entryIds()).toEqual([])
    expect(await users.happen()).toBe(false)
    await users.inbox.remove(users.ada, id)
    expect(await users.happen()).toBe(true)
  })

  test.each([
    'stream.alert_triggered',
    'stream.alert_cleared',
    'stream.data_received',
    'vault.data_updated',
    'vault.accessed',
    'vault.permission_changed',
  ] as const)('is no matter for %s', async (type) => {
    await using users = await NotifiedUsers.open()

    expect(await users.happen({ type })).toBe(true)
    expect(await users.happen({ type })).toBe(true)
  })

  test.each([-dayUs, -minuteUs, minuteUs, dayUs])(
    'lasts five minutes, although the wall clock is set by %s microseconds',
    async (stepUs) => {
      await using users = await NotifiedUsers.open()
      await users.happen()
      users.clock.step(stepUs)
      users.nowUs += 5 * minuteUs - 1
      expect(await users.happen()).toBe(false)

      users.nowUs += 1
      expect(await users.happen()).toBe(true)
    },
  )
})
