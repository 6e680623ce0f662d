import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { Authenticator } from '../../src/access/auth/authenticate.ts'
import { FailedLogins } from '../../src/access/auth/failed-logins.ts'
import { KeyDirectory } from '../../src/access/auth/key-directory.ts'
import { LimitedKeys } from '../../src/access/auth/limited-keys.ts'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { systemClock } from '../../src/core/clock.ts'
import { noSessions } from '../support/no-sessions.ts'
import { superiority } from '../support/superiority.ts'
import { TestState } from '../support/test-state.ts'

const tries = 2_000
const origin = { address: '192.0.2.1', protocol: 'http' } as const

/** An id that is a new text each time, as one that came in a request. */
function fresh(id: string): string {
  return Buffer.from(id).toString()
}

test('refusing an unknown key takes as long as refusing a wrong secret', async () => {
  await using database = await TestState.open()
  const { state } = database
  const masterKey = new MasterKey(MasterKey.generate())
  const userId = await database.newUser()
  const known = `sv_test_${randomBytes(12).toString('hex')}`
  const unknown = `sv_test_${randomBytes(12).toString('hex')}`
  const row = {
    id: known,
    user_id: userId,
    secret_digest: masterKey.digest('the secret'),
    scopes: 'data:read',
    created_at: 0,
    name: '',
    permission: 'custom',
    origin: 'api',
  }
  await database.commit(state.insertInto('api_keys').values(row))
  const keys = await KeyDirectory.open({ state, writer: database, masterKey, clock: systemClock })
  const failed = new FailedLogins(keys)
  const authenticator = new Authenticator({
    keys,
    sessions: noSessions,
    limited: new LimitedKeys({ state, masterKey, clock: systemClock }),
    logins: { assertMayLogIn: () => undefined, countFailure: () => undefined },
    onUse: () => undefined,
    tokens: { isGood: () => expect.unreachable(), verify: () => expect.unreachable() },
    onFailure: (attempt) => failed.record(attempt),
  })
  const refuse = (id: string): number => {
    const text = fresh(id)
    const startedNs = process.hrtime.bigint()
    expect(() => authenticator.byKey(text, 'a wrong secret', origin)).toThrow()
    return Number(process.hrtime.bigint() - startedNs)
  }
  for (let count = 0; count < tries; count++) refuse(count % 2 === 0 ? known : unknown)

  const times = { known: [] as number[], unknown: [] as number[] }
  for (let count = 0; count < tries; count++) {
    // Which of them comes first changes: neither always follows the other.
    const order =
      count % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)
    for (const which of order) times[which].push(refuse(which === 'known' ? known : unknown))
  }

  // 0.5 when nothing tells them apart, 0 or 1 when every single pair does.
  const share = superiority(times.known, times.unknown)
  expect(share).toBeGreaterThan(0.35)
  expect(share).toBeLessThan(0.65)
})

test('the same holds for the keys of devices, though one that sends is at hand', async () => {
  await using database = await TestState.open()
  const { state } = database
  const masterKey = new MasterKey(MasterKey.generate())
  const known = `sv_dev_${randomBytes(12).toString('hex')}`
  const unknown = `sv_dev_${randomBytes(12).toString('hex')}`
  const row = {
    id: known,
    owner_id: await database.newUser(),
    name: 'boiler',
    name_folded: 'boiler',
    secret_digest: masterKey.digest('the secret'),
    created_at: 0,
    created_by: '',
  }
  await database.commit(state.insertInto('devices').values(row))
  const keys = new LimitedKeys({ state, masterKey, clock: systemClock })
  await keys.lookUp(known, 'the secret')
  expect(keys.verify(known, 'the secret')?.id).toBe(known)
  expect(keys.lookUp(known, 'the secret')).toBeUndefined()
  const refuse = async (id: string): Promise<number> => {
    const text = fresh(id)
    const startedNs = process.hrtime.bigint()
    await keys.lookUp(text, 'a wrong secret')
    expect(keys.verify(text, 'a wrong secret')).toBeUndefined()
    return Number(process.hrtime.bigint() - startedNs)
  }
  for (let count = 0; count < tries; count++) await refuse(count % 2 === 0 ? known : unknown)

  const times = { known: [] as number[], unknown: [] as number[] }
  for (let count = 0; count < tries; count++) {
    const order =
      count % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)
    for (const which of order) times[which].push(await refuse(which === 'known' ? known : unknown))
  }

  const share = superiority(times.known, times.unknown)
  expect(share).toBeGreaterThan(0.35)
  expect(share).toBeLessThan(0.65)
})
