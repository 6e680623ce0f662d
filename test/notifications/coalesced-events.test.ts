import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newId, type UserId } from '../../src/core/ids.ts'
import {
  CoalescedEvents,
  noteAccess,
  noteArrivals,
} from '../../src/outbox/events/coalesced-events.ts'
import { backlogOf } from '../../src/telling/delivery/backlog.ts'
import { FanOut } from '../../src/telling/notifications/fan-out.ts'
import { NotifiedUsers } from '../support/notified-users.ts'

interface Told {
  readonly type: string
  readonly resourceId: string
  readonly count: number
}

/** A user with streams s0, s1, ... in one vault, and webhooks that ask for some types. */
class Subject implements AsyncDisposable {
  readonly users: NotifiedUsers
  readonly #coalesced: CoalescedEvents
  readonly told: Told[] = []

  static async open(...asked: readonly string[]): Promise<Subject> {
    const users = await NotifiedUsers.open()
    const { state } = users.tests
    await users.tests.commit(
      ...vaultOf(users),
      ...['s0', 's1'].map((id) => insertedStream(users, id)),
      ...asked.map((type) =>
        state
          .insertInto('webhook_subscriptions')
          .values({ owner_id: users.ada, event_type: type, webhook_id: type }),
      ),
    )
    return new Subject(users)
  }

  private constructor(users: NotifiedUsers) {
    this.users = users
    const { clock } = users
    const { notify } = new FanOut({
      clock,
      steps: [
        async (_, { type, resourceId, data }) => {
          const { count } = JSON.parse(data) as { readonly count: number }
          this.told.push({ type, resourceId, count })
          return 0
        },
      ],
      onNotified: () => undefined,
    })
    this.#coalesced = new CoalescedEvents({ state: users.tests.state, clock, notify })
  }

  async arrive(counts: Readonly<Record<string, number>>): Promise<void> {
    const arrivals = Object.entries(counts).map(([streamId, accepted]) => {
      return { streamId, accepted, lastReceivedAtUs: this.users.nowUs }
    })
    await this.users.tests.state
      .transaction()
      .execute((transaction) => noteArrivals(transaction, arrivals))
  }

  /** What is told now. */
  async flush(): Promise<readonly Told[]> {
    this.told.length = 0
    await this.#coalesced.flush()
    return [...this.told]
  }

  async rows(): Promise<number> {
    const { state } = this.users.tests
    return (await state.selectFrom('coalesced_events').selectAll().execute()).length
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.users[Symbol.asyncDispose]()
  }
}

/** A vault v1, with all that it needs. */
function vaultOf({ tests: { state }, ada }: NotifiedUsers) {
  const owned = { owner_id: ada, created_at: 0, name: 'boiler', description: null, public: 0 }
  const template = { ...owned, id: 't1', name_folded: 'boiler', author: null, hint: '' }
  const vault = { ...owned, id: 'v1', template_id: 't1', ledger: 'XRPL', json_payload: null }
  const begun = { status: 'SERVICE_RECEIVED', progress: '[]', failure: null }
  return [
    state.insertInto('users').values({ id: ada, username: 'ada', created_at: 0 }),
    state
      .insertInto('templates')
      .values({ ...template, status: begun.status, required_streams: '[]' }),
    state
      .insertInto('vaults')
      .values({ ...vault, ...begun, kept_raw: null, kept_aggregated: null }),
  ]
}

function insertedStream({ tests, ada }: NotifiedUsers, id: string) {
  return tests.state.insertInto('data_streams').values({
    id,
    owner_id: ada,
    vault_id: 'v1',
    name: id,
    type: 'iot_sensor',
    created_at: 0,
    version: 1,
    name_folded: id,
    tags: '{}',
    paused_at: null,
    last_event_at: null,
    kept_raw: null,
    kept_aggregated: null,
  })
}

const received = 'stream.data_received'
const updated = 'vault.data_updated'

describe('data that arrives', () => {
  test('is told at most once a second, and counts are added', async () => {
    await using subject = await Subject.open(received)
    await subject.arrive({ s0: 2 })
    expect(await subject.flush()).toEqual([{ type: received, resourceId: 's0', count: 2 }])

    await subject.arrive({ s0: 3 })
    subject.users.nowUs += 999_999
    await subject.arrive({ s0: 4 })
    expect(await subject.flush()).toEqual([])
    subject.users.nowUs += 1
    expect(await subject.flush()).toEqual([{ type: received, resourceId: 's0', count: 7 }])
  })

  test('is told by stream and by vault, as it was asked for', async () => {
    await using subject = await Subject.open(received, updated)
    await subject.arrive({ s0: 2, s1: 3, unknown: 9 })

    expect(new Set(await subject.flush())).toEqual(
      new Set([
        { type: received, resourceId: 's0', count: 2 },
        { type: received, resourceId: 's1', count: 3 },
        { type: updated, resourceId: 'v1', count: 5 },
      ]),
    )
  })

  test('leaves nothing when nobody asks, or nothing was accepted', async () => {
    await using nobody = await Subject.open('vault.created')
    await nobody.arrive({ s0: 2 })
    expect(await nobody.rows()).toBe(0)

    await using subject = await Subject.open(updated)
    await subject.arrive({ s0: 0 })
    expect(await subject.rows()).toBe(0)
  })

  test('is of no concern to others who ask for theirs', async () => {
    await using subject = await Subject.open()
    await subject.users.tests.commit(
      subject.users.tests.state
        .insertInto('webhook_subscriptions')
        .values({ owner_id: newId<UserId>(), event_type: received, webhook_id: 'w' }),
    )
    await subject.arrive({ s0: 2 })

    expect(await subject.rows()).toBe(0)
  })

  test('is forgotten after a quiet second', async () => {
    await using subject = await Subject.open(received)
    await subject.arrive({ s0: 2 })
    await subject.flush()
    subject.users.nowUs += 1_000_000

    expect(await subject.flush()).toEqual([])
    expect(await subject.rows()).toBe(0)
  })

  test('of very many streams is told in portions, those that wait longest first', async () => {
    await using subject = await Subject.open(received)
    const ids = Array.from({ length: 700 }, (_, index) => `m${index}`)
    await subject.users.tests.commit(...ids.map((id) => insertedStream(subject.users, id)))
    await subject.arrive(Object.fromEntries(ids.map((id) => [id, 1])))

    const waiting = async () => {
      const { state } = subject.users.tests
      return (await backlogOf(state, subject.users.nowUs)).coalescedWaiting
    }
    expect(await waiting()).toBe(700)
    const told: string[] = []
    for (let looks = 0; looks < 4; looks++) {
      const some = await subject.flush()
      expect(some.length).toBeLessThanOrEqual(200)
      told.push(...some.map(({ resourceId }) => resourceId))
    }

    expect(told.toSorted()).toEqual(ids.toSorted())
    expect(await waiting()).toBe(0)
  })
})

describe('an access to a vault', () => {
  test('is told with the number of them, to an owner who asks', async () => {
    await using subject = await Subject.open('vault.accessed')
    const { tests, ada, nowUs } = subject.users
    for (let count = 0; count < 3; count++) {
      const note = await noteAccess(tests.state, { id: 'v1', ownerId: ada }, nowUs)
      if (note) await tests.commit(note)
    }

    expect(await subject.flush()).toEqual([{ type: 'vault.accessed', resourceId: 'v1', count: 3 }])
    const other = { id: 'v2', ownerId: newId<UserId>() }
    expect(await noteAccess(tests.state, other, nowUs)).toBeUndefined()
  })
})

test('however the wall clock is set, arrivals are told once a second', async () => {
  await using subject = await Subject.open('stream.data_received')
  const { clock } = subject.users
  const dayUs = 86_400_000_000
  const moves = fc.array(
    fc.record({
      passUs: fc.integer({ min: 1, max: 1_500_000 }),
      stepUs: fc.oneof(
        fc.integer({ min: -dayUs, max: dayUs }),
        fc.integer({ min: -1_000_000, max: 1_000_000 }),
      ),
    }),
    { minLength: 1, maxLength: 12 },
  )
  await fc.assert(
    fc.asyncProperty(moves, async (some) => {
      // What is left of the round before is told.
      clock.atUs += 1_000_000
      await subject.flush()
      clock.atUs += 1_000_000
      await subject.flush()
      let dueUs = clock.steadyUs()
      let waiting = 0
      for (const { passUs, stepUs } of some) {
        clock.atUs += passUs
        clock.step(stepUs)
        await subject.arrive({ s0: 1 })
        waiting++
        const isDue = clock.steadyUs() >= dueUs
        expect((await subject.flush()).map(({ count }) => count)).toEqual(isDue ? [waiting] : [])
        if (isDue) [dueUs, waiting] = [clock.steadyUs() + 1_000_000, 0]
      }
    }),
    { numRuns: 15 },
  )
})
