import type { Compilable } from 'kysely'
import { describe, expect, test } from 'vitest'
import { LastSeen } from '../../src/streams/devices/last-seen.ts'
import { TestState } from '../support/test-state.ts'

const from = { address: '192.0.2.1', protocol: 'http' }

async function devicesIn(database: TestState, count: number): Promise<readonly string[]> {
  const ownerId = await database.newUser()
  const ids = Array.from({ length: count }, (_, index) => `sv_dev_${index}`)
  const rows = ids.map((id) => ({
    id,
    owner_id: ownerId,
    name: id,
    name_folded: id,
    secret_digest: '',
    created_at: 0,
    created_by: '',
  }))
  await database.commit(...rows.map((row) => database.state.insertInto('devices').values(row)))
  return ids
}

async function seenOf(database: TestState) {
  return await database.state
    .selectFrom('devices')
    .select([
      'last_seen_at as at',
      'last_seen_address as address',
      'last_seen_protocol as protocol',
    ])
    .orderBy('id')
    .execute()
}

describe('when devices were seen', () => {
  test('is written once for each of them, with the newest of its sights', async () => {
    await using database = await TestState.open()
    const [first = '', second = ''] = await devicesIn(database, 3)
    let nowUs = 0
    const clock = { nowUs: () => ++nowUs }
    const lastSeen = new LastSeen({ state: database.state, writer: database, clock })

    for (let count = 0; count < 10; count++) lastSeen.note(first, from)
    lastSeen.watch(() => [{ id: second, address: '192.0.2.2' }])
    expect((await seenOf(database)).map(({ at }) => at)).toEqual([null, null, null])
    await lastSeen.flush()

    expect(await seenOf(database)).toEqual([
      { at: 10, ...from },
      { at: 11, address: '192.0.2.2', protocol: 'mqtt' },
      { at: null, address: null, protocol: null },
    ])
    expect(lastSeen.pending).toBe(0)
  })

  test('is kept when it cannot be written, and written the next time', async () => {
    await using database = await TestState.open()
    const [id = ''] = await devicesIn(database, 1)
    const clock = { nowUs: () => 7 }
    let isBroken = true
    const writer = {
      attempt: async () => expect.unreachable(),
      async commit(...changes: readonly Compilable[]) {
        if (isBroken) throw new Error('the disk is full')
        await database.commit(...changes)
      },
    }
    const lastSeen = new LastSeen({ state: database.state, writer, clock })
    lastSeen.note(id, from)

    await expect(lastSeen.flush()).rejects.toThrow('the disk is full')
    expect(lastSeen.pending).toBe(1)
    isBroken = false
    await lastSeen.flush()

    expect((await seenOf(database)).map(({ at }) => at)).toEqual([7])
  })
})
