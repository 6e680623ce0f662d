import { describe, expect, test } from 'vitest'
import { newId, type UserId } from '../../src/core/ids.ts'
import { minuteUs, NotifiedUsers } from '../support/notified-users.ts'

async function granted(users: NotifiedUsers, count: number, holderId: UserId): Promise<void> {
  for (let one = 0; one < count; one++) {
    const resourceId = newId()
    await users.happen({
      type: 'vault.permission.granted',
      resourceId,
      data: { user_id: holderId },
    })
  }
}

describe('what others let a user do', () => {
  test('takes a fifth of the entries of a minute at most', async () => {
    await using users = await NotifiedUsers.open()

    await granted(users, 150, users.ada)
    expect(await users.entryIds()).toHaveLength(20)
    expect(users.inboxes.refused).toBe(130)
    for (let one = 0; one < 81; one++) await users.happen({ resourceId: `v${one}` })
    expect(await users.entryIds()).toHaveLength(100)

    users.nowUs += minuteUs
    await granted(users, 1, users.ada)
    expect(await users.entryIds()).toHaveLength(101)
  })

  test('is not what the user lets others do', async () => {
    await using users = await NotifiedUsers.open()

    await granted(users, 30, newId<UserId>())

    expect(await users.entryIds()).toHaveLength(30)
  })
})
