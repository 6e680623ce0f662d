import * as fc from 'fast-check'
import type { Compilable } from 'kysely'
import { describe, expect, test } from 'vitest'
import { AuditLog } from '../../src/access/audit/audit-log.ts'
import type { ConsoleSession } from '../../src/access/auth/console-session.ts'
import {
  ConsoleSessions,
  sessionIdleUs,
  sessionLifetimeUs,
  sessionsOfKeyMax,
  sessionsOfUserMax,
} from '../../src/access/auth/console-sessions.ts'
import { KeyDirectory } from '../../src/access/auth/key-directory.ts'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import type { UserId } from '../../src/core/ids.ts'
import { dayUs, secondUs, steps } from '../support/clock-moves.ts'
import { HandClock } from '../support/hand-clock.ts'
import { TestState } from '../support/test-state.ts'

const hourUs = 3_600 * secondUs
const masterKey = new MasterKey(Buffer.alloc(32, 7))
const userId = 'ada' as UserId
const secretOfKey = 'the secret of the key'
const actor = { userId, apiKeyId: 'key-1', address: '192.0.2.1' }

/** Sessions of one user, over restarts. */
class Bench implements AsyncDisposable {
  readonly clock: HandClock
  readonly tests: TestState
  readonly directory: KeyDirectory
  sessions: ConsoleSessions
  /** Whether nothing can be written. */
  isFull = false

  static async open(): Promise<Bench> {
    const tests = await TestState.open()
    const { state } = tests
    await tests.commit(
      state.insertInto('users').values({ id: userId, username: userId, created_at: 0 }),
      ...[1, 2, 3, 4, 5, 6].map((number) =>
        state.insertInto('api_keys').values({
          id: `key-${number}`,
          user_id: userId,
          secret_digest: masterKey.digest(secretOfKey),
          scopes: 'data:read',
          created_at: 0,
          name: '',
          permission: 'custom',
          origin: 'api',
        }),
      ),
    )
    const clock = new HandClock()
    const directory = await KeyDirectory.open({ state, writer: tests, masterKey, clock })
    const bench = new Bench(tests, { clock, directory })
    await bench.restart()
    return bench
  }

  private constructor(
    tests: TestState,
    { clock, directory }: { readonly clock: HandClock; readonly directory: KeyDirectory },
  ) {
    this.tests = tests
    this.clock = clock
    this.directory = directory
    this.sessions = undefined as unknown as ConsoleSessions
  }

  /** As after a kill: what was only remembered is forgotten. */
  async restart(): Promise<void> {
    const { state } = this.tests
    this.sessions = await ConsoleSessions.open({
      state,
      writer: this,
      masterKey,
      keys: this.directory,
      clock: this.clock,
      audit: new AuditLog(state, this.clock),
    })
  }

  async commit(...changes: readonly Compilable[]): Promise<void> {
    if (this.isFull) throw new Error('the disk is full')
    await this.tests.commit(...changes)
  }

  async attempt(...changes: readonly Compilable[]): Promise<boolean> {
    return await this.tests.attempt(...changes)
  }

  async begin(
    apiKeyId = 'key-1',
    replaced?: ConsoleSession,
  ): Promise<{ readonly secret: string; readonly session: ConsoleSession }> {
    const caller = { userId, apiKeyId, scope: 'data:read' }
    const address = '192.0.2.1'
    return await this.sessions.begin({ caller, apiSecret: secretOfKey, address, replaced })
  }

  /** Gives the key another secret; the one before is good until then. */
  async rotate(previousUntilUs: number): Promise<void> {
    const { state } = this.tests
    await this.tests.commit(
      state
        .updateTable('api_keys')
        .set({
          secret_digest: masterKey.digest('another'),
          previous_digest: masterKey.digest(secretOfKey),
          previous_until: previousUntilUs,
        })
        .where('id', '=', 'key-1'),
    )
    await this.directory.refresh('key-1')
  }

  /** What the audit log says of ends, oldest first. */
  async reasons(): Promise<readonly unknown[]> {
    const audit = new AuditLog(this.tests.state, this.clock)
    const entries = await audit.list({ action: 'console_session.ended' }, undefined, 1_000)
    return entries.map(({ details }) => details['reason']).toReversed()
  }

  async stored(): Promise<number> {
    return (await this.tests.state.selectFrom('console_sessions').selectAll().execute()).length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tests[Symbol.asyncDispose]()
  }
}

test('however the clock is set and whenever it is restarted, a session lasts 12 hours unused and 7 days at most', async () => {
  await using bench = await Bench.open()
  const move = fc.record({
    passUs: fc.integer({ min: 0, max: 13 * hourUs }),
    stepUs: steps,
    isUsed: fc.boolean(),
    isFlushed: fc.boolean(),
    isRestarted: fc.boolean(),
  })
  const runs = fc.array(move, { minLength: 1, maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(runs, async (moves) => {
      const { secret, session } = await bench.begin()
      const startUs = bench.clock.steadyUs()
      let usedUs = startUs
      let keptUs = startUs
      for (const { passUs, stepUs, isUsed, isFlushed, isRestarted } of moves) {
        bench.clock.atUs += passUs
        bench.clock.step(stepUs)
        const nowUs = bench.clock.steadyUs()
        const isLeft = nowUs < usedUs + sessionIdleUs && nowUs < startUs + sessionLifetimeUs
        expect(bench.sessions.find(secret)?.id).toBe(isLeft ? session.id : undefined)
        expect(bench.sessions.isGood(session)).toBe(isLeft)
        if (!isLeft) break
        if (isUsed) {
          bench.sessions.use(session)
          usedUs = nowUs
        }
        if (isFlushed) {
          await bench.sessions.flush()
          keptUs = usedUs
        }
        if (isRestarted) {
          await bench.restart()
          usedUs = keptUs
        }
      }
    }),
    { numRuns: 60 },
  )
})

test('the times that are shown are those of the wall clock as it is set now', async () => {
  await using bench = await Bench.open()
  const { session } = await bench.begin()
  const beganUs = bench.clock.nowUs()
  expect(bench.sessions.termsOf(session)).toEqual({
    lastUsedAtUs: beganUs,
    expiresAtUs: beganUs + sessionLifetimeUs,
    idleExpiresAtUs: beganUs + sessionIdleUs,
  })
  for (let half = 0; half < 13; half++) {
    bench.clock.atUs += dayUs / 2 - secondUs
    bench.sessions.use(session)
  }
  bench.clock.step(-dayUs)

  const { lastUsedAtUs, expiresAtUs, idleExpiresAtUs } = bench.sessions.termsOf(session)
  expect(lastUsedAtUs).toBe(bench.clock.nowUs())
  expect(expiresAtUs).toBe(beganUs + sessionLifetimeUs - dayUs)
  expect(idleExpiresAtUs).toBe(Math.min(expiresAtUs, lastUsedAtUs + sessionIdleUs))
})

describe('a session that is over', () => {
  test('leaves the state and is written down with its reason', async () => {
    await using bench = await Bench.open()
    await bench.begin()
    bench.clock.atUs += sessionIdleUs
    await bench.sessions.flush()

    expect([bench.sessions.size, await bench.stored(), await bench.reasons()]).toEqual([
      0,
      0,
      ['expired'],
    ])
  })

  test('ends with the overlap of the secret that it was made with', async () => {
    await using bench = await Bench.open()
    const { secret } = await bench.begin()
    const { secret: ofOther } = await bench.begin('key-2')
    await bench.rotate(bench.clock.nowUs() + hourUs)
    bench.clock.atUs += hourUs - secondUs
    expect(bench.sessions.find(secret)).toBeDefined()
    bench.clock.atUs += secondUs

    expect(bench.sessions.find(secret)).toBeUndefined()
    expect(bench.sessions.find(ofOther)).toBeDefined()
    await bench.sessions.flush()
    expect(await bench.reasons()).toEqual(['key'])
  })

  test('ends with its key, also while the service is away', async () => {
    await using bench = await Bench.open()
    const { secret } = await bench.begin()
    await bench.tests.commit(bench.tests.state.deleteFrom('api_keys').where('id', '=', 'key-1'))
    await bench.directory.refresh('key-1')
    await bench.restart()

    expect(bench.sessions.find(secret)).toBeUndefined()
    await bench.sessions.flush()
    expect([await bench.stored(), await bench.reasons()]).toEqual([0, ['key']])
  })
})

describe('too many', () => {
  test('of one key end the one that was not used for longest', async () => {
    await using bench = await Bench.open()
    const first = await bench.begin()
    bench.clock.atUs += secondUs
    const second = await bench.begin()
    for (let more = 2; more < sessionsOfKeyMax; more++) await bench.begin()
    bench.clock.atUs += secondUs
    bench.sessions.use(first.session)
    await bench.begin()

    expect(bench.sessions.size).toBe(sessionsOfKeyMax)
    expect(bench.sessions.find(first.secret)).toBeDefined()
    expect(bench.sessions.find(second.secret)).toBeUndefined()
    expect([await bench.stored(), await bench.reasons()]).toEqual([sessionsOfKeyMax, ['too_many']])
  })

  test('at once are as many as allowed', async () => {
    await using bench = await Bench.open()
    await Promise.all(Array.from({ length: 60 }, () => bench.begin()))

    expect([bench.sessions.size, await bench.stored()]).toEqual([
      sessionsOfKeyMax,
      sessionsOfKeyMax,
    ])
  })

  test('of one user end the one that was not used for longest, of whatever key', async () => {
    await using bench = await Bench.open()
    const first = await bench.begin('key-1')
    bench.clock.atUs += secondUs
    for (let number = 1; number < sessionsOfUserMax; number++) {
      await bench.begin(`key-${2 + (number % 5)}`)
    }
    expect(bench.sessions.find(first.secret)).toBeDefined()
    await bench.begin('key-1')

    expect(bench.sessions.find(first.secret)).toBeUndefined()
    expect(bench.sessions.ofUser(userId)).toHaveLength(sessionsOfUserMax)
  })
})

describe('when nothing can be written', () => {
  test('no session begins', async () => {
    await using bench = await Bench.open()
    bench.isFull = true
    await expect(bench.begin()).rejects.toThrow('full')

    expect(bench.sessions.size).toBe(0)
  })

  test('one that ends is over all the same, and written down later', async () => {
    await using bench = await Bench.open()
    const { secret, session } = await bench.begin()
    bench.isFull = true
    await expect(bench.sessions.end(session, 'signed_out', actor)).rejects.toThrow('full')
    expect(bench.sessions.find(secret)).toBeUndefined()
    expect(await bench.stored()).toBe(1)
    bench.isFull = false
    await bench.sessions.flush()

    expect([await bench.stored(), await bench.reasons()]).toEqual([0, ['signed_out']])
  })

  test('the last use is written down later', async () => {
    await using bench = await Bench.open()
    const { secret, session } = await bench.begin()
    bench.clock.atUs += 11 * hourUs
    bench.sessions.use(session)
    bench.isFull = true
    await expect(bench.sessions.flush()).rejects.toThrow('full')
    bench.isFull = false
    await bench.sessions.flush()
    await bench.restart()
    bench.clock.atUs += 11 * hourUs

    expect(bench.sessions.find(secret)).toBeDefined()
  })
})

test('an end that was asked for is durable before it is told, whatever else is being written', async () => {
  await using bench = await Bench.open()
  const all = await Promise.all(Array.from({ length: 12 }, () => bench.begin()))
  await Promise.all([
    bench.sessions.flush(),
    ...all.map(async ({ session }) => {
      await bench.sessions.end(session, 'ended', actor)
      const row = bench.tests.state
        .selectFrom('console_sessions')
        .selectAll()
        .where('id', '=', session.id)
      expect(await row.executeTakeFirst()).toBeUndefined()
    }),
  ])
  await bench.restart()

  expect(bench.sessions.size).toBe(0)
})

test('what a cookie says is nowhere in the state, and no two say the same', async () => {
  await using bench = await Bench.open()
  const secrets = new Set<string>()
  for (let count = 0; count < 10; count++) secrets.add((await bench.begin()).secret)
  const rows = await bench.tests.state.selectFrom('console_sessions').selectAll().execute()
  const written = JSON.stringify(rows)

  expect(secrets.size).toBe(10)
  for (const secret of secrets) {
    expect(Buffer.from(secret, 'base64url')).toHaveLength(32)
    expect(written).not.toContain(secret)
  }
  expect(rows.map(({ digest }) => digest).toSorted()).toEqual(
    [...secrets].map((secret) => masterKey.digest(secret)).toSorted(),
  )
})
