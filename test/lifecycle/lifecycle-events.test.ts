import { type Compilable, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { compareText } from '../../src/core/canonical-json.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { type LifecycleEvent, lifecycleFields } from '../../src/outbox/lifecycle/lifecycle-event.ts'
import { LifecycleEvents } from '../../src/outbox/lifecycle/lifecycle-events.ts'
import { DataStreamStore } from '../../src/streams/data-streams/data-stream-store.ts'
import type { StreamType } from '../../src/streams/data-streams/stream-type.ts'
import { TemplateStore } from '../../src/twins/templates/template-store.ts'
import { VaultStore } from '../../src/twins/vaults/vault-store.ts'
import { TestState } from '../support/test-state.ts'

const common = { name: 'boiler', description: null, public: false } as const

/** Users with streams, and a clock that stands where it is put. */
class Subject implements AsyncDisposable {
  readonly tests: TestState
  readonly events: LifecycleEvents
  nowUs = 1_000
  readonly #clock = { nowUs: () => this.nowUs }

  static async open(): Promise<Subject> {
    return new Subject(await TestState.open())
  }

  private constructor(tests: TestState) {
    this.tests = tests
    this.events = new LifecycleEvents({ state: tests.state, writer: tests, clock: this.#clock })
  }

  async newStream(ownerId: UserId, type: StreamType = 'service'): Promise<StreamId> {
    const { tests } = this
    const templates = new TemplateStore({ state: tests.state, writer: tests, clock: this.#clock })
    const newTemplate = { ...common, author: null, hint: '', requiredStreams: [] }
    const { template, changes } = await templates.plan(ownerId, newTemplate)
    await tests.commit(...changes)
    const newVault = { ...common, templateId: template.id, ledger: 'XRPL', jsonPayload: null }
    const clock = { ...this.#clock, steadyUs: this.#clock.nowUs }
    const vaults = new VaultStore({ state: tests.state, writer: tests, clock })
    const planned = await vaults.plan(
      ownerId,
      { ...newVault, ledger: 'XRPL' },
      { template, streams: [], network: 'sandbox' },
    )
    await tests.commit(...planned.changes)
    const definition = {
      type,
      source: {},
      processing: {},
      conversions: {},
      tags: {},
      schema: lifecycleFields,
    }
    const { stream, changes: creation } = new DataStreamStore(tests.state, this.#clock).plan(
      ownerId,
      { ...definition, name: 'changes', vaultId: planned.vault.id },
      'a key',
    )
    if (!(await tests.attempt(...creation))) throw new Error('there is no room for the stream')
    return stream.id
  }

  /** Commits an event, and what comes with it. */
  async happen(
    ownerId: UserId,
    resourceId: string,
    { event = 'vault.created', also = [] }: Happening = {},
  ): Promise<boolean> {
    const actor = { userId: ownerId, apiKeyId: 'a key' }
    const notice = /^(vault|key)\./.test(event) ? { data: {} } : undefined
    const about = { event, ownerId, resourceId, name: 'boiler', actor, notice }
    const recorded = this.events.record(about as LifecycleEvent)
    return await this.tests.attempt(...recorded, ...also)
  }

  /** The resource of each event that waits, and its time. */
  async waiting(streamId: StreamId): Promise<readonly (readonly [string, number])[]> {
    const all = await this.events.next(1_000)
    return all
      .filter((one) => one.streamId === streamId)
      .map(({ reading, atUs }) => [(JSON.parse(reading) as Reading).resourceId, atUs])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tests[Symbol.asyncDispose]()
  }
}

interface Happening {
  readonly event?: LifecycleEvent['event']
  readonly also?: readonly Compilable[]
}

interface Reading {
  readonly resourceId: string
}

describe('an event', () => {
  test('is written once for each service stream of the owner, and for nobody else', async () => {
    await using subject = await Subject.open()
    const [ada, bob] = [await subject.tests.newUser(), await subject.tests.newUser()]
    const told = [await subject.newStream(ada), await subject.newStream(ada)]
    const others = [await subject.newStream(ada, 'iot_sensor'), await subject.newStream(bob)]

    await subject.happen(ada, 'v1')

    for (const id of told) expect(await subject.waiting(id)).toEqual([['v1', 1_000]])
    for (const id of others) expect(await subject.waiting(id)).toEqual([])
  })

  test('stands in no way where there is no service stream', async () => {
    await using subject = await Subject.open()
    const ada = await subject.tests.newUser()

    expect(await subject.happen(ada, 'v1')).toBe(true)
    expect(await subject.events.next(10)).toEqual([])
  })

  test('is not there without its change', async () => {
    await using subject = await Subject.open()
    const ada = await subject.tests.newUser()
    const streamId = await subject.newStream(ada)
    const nobody = subject.tests.state.deleteFrom('users').where('id', '=', 'nobody')

    expect(await subject.happen(ada, 'v1', { also: [nobody] })).toBe(false)
    expect(await subject.waiting(streamId)).toEqual([])
  })

  test('is later than the one before, whatever the clock says', async () => {
    await using subject = await Subject.open()
    const ada = await subject.tests.newUser()
    const streamId = await subject.newStream(ada)

    for (const [index, nowUs] of [5_000, 5_000, 3_000, 9_000].entries()) {
      subject.nowUs = nowUs
      await subject.happen(ada, `v${index}`)
      if (index === 1) await subject.events.remove(await subject.events.next(10))
    }

    expect(await subject.waiting(streamId)).toEqual([
      ['v2', 5_002],
      ['v3', 9_000],
    ])
  })

  test('is told to a paused stream only when it is about that', async () => {
    await using subject = await Subject.open()
    const ada = await subject.tests.newUser()
    const streamId = await subject.newStream(ada)
    await subject.tests.commit(
      subject.tests.state.updateTable('data_streams').set({ paused_at: 1 }),
    )

    await subject.happen(ada, 'v1')
    await subject.happen(ada, streamId, { event: 'stream.resumed' })

    expect(await subject.waiting(streamId)).toEqual([[streamId, 1_000]])
  })

  test('names the key that made the change, unless it is somebody else’s', async () => {
    await using subject = await Subject.open()
    const ada = await subject.tests.newUser()
    await subject.newStream(ada)
    const about = {
      event: 'key.revoked',
      ownerId: ada,
      resourceId: 'k',
      name: 'gateway',
      notice: { data: {} },
    } as const
    for (const userId of [ada, newId<UserId>()]) {
      const actor = { userId, apiKeyId: 'actor' }
      await subject.tests.attempt(...subject.events.record({ ...about, actor }))
    }

    const readings = (await subject.events.next(10)).map(({ reading }) => JSON.parse(reading))
    const told = { event: 'key.revoked', resourceType: 'key', resourceId: 'k', name: 'gateway' }
    expect(readings).toEqual([{ ...told, apiKeyId: 'actor' }, told])
  })
})

describe('the outbox', () => {
  test('loses nothing that came after it was looked into', async () => {
    await using subject = await Subject.open()
    const ada = await subject.tests.newUser()
    const streams = [await subject.newStream(ada), await subject.newStream(ada)]
    await subject.happen(ada, 'v1')
    const looked = await subject.events.next(1)
    subject.nowUs = 500
    await subject.happen(ada, 'v2')

    await subject.events.remove(looked)

    const left = await Promise.all(streams.map((id) => subject.waiting(id)))
    // One stream was told of v1 already, whichever came first.
    expect(
      left
        .flat()
        .map(([id]) => id)
        .toSorted(compareText),
    ).toEqual(['v1', 'v2', 'v2'])
  })

  test('takes no change any more when it is full, and lets things end', async () => {
    await using subject = await Subject.open()
    const ada = await subject.tests.newUser()
    const streamId = await subject.newStream(ada)
    await sql`
      WITH RECURSIVE n(at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < 100000)
      INSERT INTO lifecycle_events SELECT ${streamId}, at, '{}' FROM n`.execute(subject.tests.state)
    subject.nowUs = 200_000
    await subject.events.next(10)

    expect(subject.events.pending).toBe(100_000)
    await expect(subject.happen(ada, 'v1')).rejects.toMatchObject({ code: 'overloaded' })
    for (const event of ['key.revoked', 'vault.deleted'] as const) {
      expect(await subject.happen(ada, 'v1', { event })).toBe(true)
    }
  })

  test('forgets what a deleted stream was not told', async () => {
    await using subject = await Subject.open()
    const ada = await subject.tests.newUser()
    const [gone, kept] = [await subject.newStream(ada), await subject.newStream(ada)]
    await subject.happen(ada, 'v1')

    await subject.tests.attempt(subject.events.forget(gone))

    expect(await subject.waiting(gone)).toEqual([])
    expect(await subject.waiting(kept)).toHaveLength(1)
  })
})

test('a user can have ten service streams', async () => {
  await using subject = await Subject.open()
  const [ada, bob] = [await subject.tests.newUser(), await subject.tests.newUser()]
  for (let index = 0; index < 10; index++) await subject.newStream(ada)

  await expect(subject.newStream(ada)).rejects.toThrow('no room')
  await subject.newStream(ada, 'iot_sensor')
  await subject.newStream(bob)
})
