import { setImmediate as turn } from 'node:timers/promises'
import type { Compilable } from 'kysely'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { AuditLog } from '../../src/access/audit/audit-log.ts'
import type { LoginAttempt } from '../../src/access/auth/authenticate.ts'
import { FailedLogins } from '../../src/access/auth/failed-logins.ts'
import { type ApiKey, KeyDirectory } from '../../src/access/auth/key-directory.ts'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { SigningKeys } from '../../src/access/auth/signing-keys.ts'
import { Tokens } from '../../src/access/auth/tokens.ts'
import { Upkeep } from '../../src/access/auth/upkeep.ts'
import type { Clocks } from '../../src/core/clock.ts'
import type { UserId } from '../../src/core/ids.ts'
import type { StateWriter } from '../../src/storage/state/database.ts'
import { noSessions } from '../support/no-sessions.ts'
import { TestState } from '../support/test-state.ts'

const minuteMs = 60_000
const hourUs = 3_600_000_000
const dayUs = 24 * hourUs
const keyId = 'sv_test_1'

/** Everything that upkeep looks after, on a real state, with a clock and timers of its own. */
class Subject implements AsyncDisposable, Clocks, StateWriter {
  readonly #database: TestState
  readonly #masterKey = new MasterKey(Buffer.alloc(32, 7))
  #nowUs = 1_000 * dayUs
  readonly audit: AuditLog
  readonly failures: unknown[] = []
  /** Commits that fail from now on. */
  refusals = 0
  directory!: KeyDirectory
  signingKeys!: SigningKeys
  failedLogins!: FailedLogins
  upkeep!: Upkeep

  static async open(): Promise<Subject> {
    const subject = new Subject(await TestState.open())
    await subject.#start()
    return subject
  }

  private constructor(database: TestState) {
    this.#database = database
    this.audit = new AuditLog(database.state, this, {
      days: 400,
      entries: 5,
      failedLogins: 2,
      aboutUser: 3,
    })
  }

  async #start(): Promise<void> {
    const { state } = this.#database
    const insert = state.insertInto('api_keys').values({
      id: keyId,
      user_id: await this.#database.newUser(),
      secret_digest: this.#masterKey.digest('secret'),
      scopes: 'data:read',
      created_at: 0,
      name: '',
      permission: 'custom',
      origin: 'api',
    })
    await this.commit(insert)
    const needs = {
      state,
      writer: this,
      clock: this,
      audit: this.audit,
      masterKey: this.#masterKey,
    }
    this.directory = await KeyDirectory.open(needs)
    this.signingKeys = await SigningKeys.open(needs)
    this.failedLogins = new FailedLogins(this.directory)
    this.upkeep = new Upkeep({
      directory: this.directory,
      sessions: noSessions,
      failedLogins: this.failedLogins,
      signingKeys: this.signingKeys,
      audit: this.audit,
      writer: this,
      alsoFlush: async () => undefined,
      onFailure: (error) => this.failures.push(error),
    })
  }

  get key(): ApiKey {
    return this.directory.find(keyId) as ApiKey
  }

  nowUs(): number {
    return this.#nowUs
  }

  steadyUs(): number {
    return this.#nowUs
  }

  pass(us: number): void {
    this.#nowUs += us
  }

  async commit(...changes: readonly Compilable[]): Promise<void> {
    if (this.refusals-- > 0) throw new Error('the disk is full')
    await this.#database.commit(...changes)
  }

  async attempt(...changes: readonly Compilable[]): Promise<boolean> {
    return await this.#database.attempt(...changes)
  }

  async lastUsedUs(): Promise<number | null> {
    const keys = this.#database.state.selectFrom('api_keys').select('last_used_at')
    return (await keys.executeTakeFirstOrThrow()).last_used_at
  }

  /** The details of all entries of an action, oldest first. */
  async detailsOf(action: string): Promise<readonly unknown[]> {
    const entries = await this.audit.list({ action }, undefined, 100)
    return entries.map(({ details }) => details).toReversed()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.upkeep.stop()
    await this.#database[Symbol.asyncDispose]()
  }
}

function strangerAt(index: number): LoginAttempt {
  return { address: `192.0.2.${index}`, apiKeyId: undefined }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

describe('the last use of a key', () => {
  test('is written down once a minute, and not before', async () => {
    await using subject = await Subject.open()
    subject.directory.use(subject.key)
    vi.advanceTimersByTime(minuteMs - 1)
    subject.pass(1)
    subject.directory.use(subject.key)
    await turn()
    expect(await subject.lastUsedUs()).toBeNull()

    vi.advanceTimersByTime(1)

    await expect.poll(() => subject.lastUsedUs()).toBe(subject.nowUs())
  })

  test('is written down the next time when it could not be', async () => {
    await using subject = await Subject.open()
    subject.directory.use(subject.key)
    subject.refusals = 1

    await expect(subject.directory.flush()).rejects.toThrow('the disk is full')
    await subject.directory.flush()

    expect(await subject.lastUsedUs()).toBe(subject.nowUs())
  })

  test('costs no commit while nobody uses it', async () => {
    await using subject = await Subject.open()
    subject.directory.use(subject.key)
    await subject.directory.flush()
    subject.refusals = 1

    await subject.directory.flush()

    expect(subject.refusals).toBe(1)
    subject.refusals = 0
  })
})

describe('failed logins', () => {
  test('are summed up once a minute', async () => {
    await using subject = await Subject.open()
    const attempt = { address: '192.0.2.1', apiKeyId: keyId }
    for (let count = 0; count < 3; count++) subject.failedLogins.record(attempt)

    vi.advanceTimersByTime(minuteMs)

    await expect.poll(() => subject.detailsOf('login.failed')).toEqual([{ count: 3 }])
  })

  test('that could not be written are in the next sum, within the limit', async () => {
    await using subject = await Subject.open()
    for (let round = 0; round < 2; round++) {
      for (let index = 0; index < 300; index++) subject.failedLogins.record(strangerAt(index))
      subject.refusals = 1 - round
      const flushed = subject.failedLogins.flush(subject.audit, subject)
      await (round === 0 ? expect(flushed).rejects.toThrow('the disk is full') : flushed)
    }

    const counts = (await subject.audit.list({ action: 'login.failed' }, undefined, 1_000)).map(
      ({ details }) => Number(details?.['count']),
    )
    expect(counts.length).toBeLessThanOrEqual(201)
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(600)
  })
})

describe('the signing key', () => {
  test('is another one after 90 days, and the one before is good for two hours more', async () => {
    await using subject = await Subject.open()
    const { signingKeys } = subject
    const tokens = new Tokens({ signingKeys, clock: subject })
    const { kid } = signingKeys.current
    subject.pass(90 * dayUs)
    await signingKeys.rotateWhenDue()
    expect(signingKeys.current.kid).toBe(kid)
    const caller = { userId: 'ada' as UserId, apiKeyId: keyId, scope: 'data:read' }
    const token = tokens.issue(caller)

    subject.pass(1)
    await signingKeys.rotateWhenDue()

    expect(signingKeys.current.kid).not.toBe(kid)
    expect(tokens.verify(token)).toMatchObject(caller)
    subject.pass(2 * hourUs - 1)
    expect(signingKeys.find(kid)?.kid).toBe(kid)
    subject.pass(1)
    expect(signingKeys.find(kid)).toBeUndefined()
    expect(await subject.detailsOf('signing_key.rotated')).toHaveLength(2)
  })

  test('is looked at once an hour', async () => {
    await using subject = await Subject.open()
    const { kid } = subject.signingKeys.current
    subject.pass(91 * dayUs)

    for (let minutes = 0; minutes < 59; minutes++) vi.advanceTimersByTime(minuteMs)
    await turn()
    expect(subject.signingKeys.current.kid).toBe(kid)
    vi.advanceTimersByTime(minuteMs)

    await expect.poll(() => subject.signingKeys.current.kid).not.toBe(kid)
    expect(subject.failures).toEqual([])
  })
})

describe('the audit log', () => {
  test('keeps the newest entries, as many as it can have', async () => {
    await using subject = await Subject.open()
    for (let count = 1; count <= 7; count++) {
      subject.pass(1)
      await subject.commit(subject.audit.entry({ action: 'key.created', details: { count } }))
    }

    await subject.audit.trim(subject)

    const kept = [3, 4, 5, 6, 7].map((count) => ({ count }))
    expect(await subject.detailsOf('key.created')).toEqual(kept)
  })

  test('failed logins do not wash away what else happened', async () => {
    await using subject = await Subject.open()
    await subject.commit(subject.audit.entry({ action: 'key.created', details: { count: 0 } }))
    for (let count = 1; count <= 9; count++) {
      subject.pass(1)
      await subject.commit(subject.audit.entry({ action: 'login.failed', details: { count } }))
    }

    await subject.audit.trim(subject)

    expect(await subject.detailsOf('key.created')).toEqual([{ count: 0 }])
    expect(await subject.detailsOf('login.failed')).toEqual([{ count: 8 }, { count: 9 }])
  })

  test('keeps the newest entries about a user, who cannot wash away those about others', async () => {
    await using subject = await Subject.open()
    const created = (userId: string, count: number) => {
      subject.pass(1)
      return subject.commit(
        subject.audit.entry({ action: 'key.created', userId, details: { count } }),
      )
    }
    await created('bob', 0)
    for (let count = 1; count <= 5; count++) await created('ada', count)

    vi.advanceTimersByTime(minuteMs)

    const kept = [0, 3, 4, 5].map((count) => ({ count }))
    await expect.poll(() => subject.detailsOf('key.created')).toEqual(kept)
  })

  test('keeps entries for 400 days', async () => {
    await using subject = await Subject.open()
    await subject.commit(subject.audit.entry({ action: 'key.created' }))
    subject.pass(400 * dayUs - 1)
    await subject.audit.trim(subject)
    expect(await subject.detailsOf('key.created')).toHaveLength(1)

    subject.pass(1)
    await subject.audit.trim(subject)

    expect(await subject.detailsOf('key.created')).toEqual([])
  })
})
