import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId, type StreamId, type UserId, type VaultId } from '../../src/core/ids.ts'
import { CountedStreams, streamFigures } from '../../src/operating/overview/stream-figures.ts'
import { stateOf, streamStates } from '../../src/streams/data-streams/stream-state.ts'
import { insertStream, insertVaults } from '../support/stream-rows.ts'
import { TestState } from '../support/test-state.ts'

let tests: TestState

beforeAll(async () => {
  tests = await TestState.open()
})

afterAll(async () => {
  await tests[Symbol.asyncDispose]()
})

interface Drawn {
  readonly isPaused: boolean
  readonly hasReceived: boolean
  readonly isFetched: boolean
  readonly isFailing: boolean
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  isPaused: fc.boolean(),
  hasReceived: fc.boolean(),
  isFetched: fc.boolean(),
  isFailing: fc.boolean(),
})

/** Streams of a user, some of which are fetched from somewhere. */
class Fleet {
  readonly ownerId = newId<UserId>()
  readonly streams = new Map<StreamId, Drawn>()
  readonly #vaultId = newId<VaultId>()

  async arrive(): Promise<void> {
    await insertVaults(tests.state, [{ ownerId: this.ownerId, id: this.#vaultId }])
  }

  async make(stream: Drawn): Promise<void> {
    const id = newId<StreamId>()
    const { isPaused, hasReceived, isFetched } = stream
    const received = Number(hasReceived)
    const counters = { received, lastReceivedAtUs: 0, quarantined: 0 }
    const own = { id, ownerId: this.ownerId, vaultId: this.#vaultId, name: 'pump', createdAtUs: 0 }
    await insertStream(tests.state, { ...own, tags: {}, isPaused, counters, alerts: [] })
    this.streams.set(id, stream)
    if (!isFetched) return
    const source = { stream_id: id, owner_id: this.ownerId, secrets_encrypted: Buffer.alloc(1) }
    await tests.state.insertInto('stream_sources').values(source).execute()
  }

  statusOf(id: StreamId) {
    const { isFetched = false, isFailing = false } = this.streams.get(id) ?? {}
    return isFetched ? { isLasting: isFailing } : undefined
  }
}

test('streams are counted by the states that they show, also for who looks again soon after', async () => {
  const some = fc.array(drawn, { maxLength: 6 })
  await fc.assert(
    fc.asyncProperty(some, some, async (first, later) => {
      let atMs = 0
      const counted = new CountedStreams(tests.state, () => atMs)
      const fleet = new Fleet()
      await fleet.arrive()
      const figures = async () =>
        streamFigures(await counted.of(fleet.ownerId, 1), (id) => fleet.statusOf(id))

      for (const one of first) await fleet.make(one)
      expect(await figures()).toMatchObject(wanted(first))
      for (const one of later) await fleet.make(one)
      expect(await figures()).toMatchObject(wanted(first))
      atMs += 2_000
      expect(await figures()).toMatchObject(wanted([...first, ...later]))
    }),
    { numRuns: 60 },
  )
})

/** What a recount of all of them finds. */
function wanted(streams: readonly Drawn[]) {
  const states = streams.map((one) =>
    stateOf({ ...one, isFailing: one.isFetched && one.isFailing }),
  )
  const numbers = streamStates.map((state) => [state, states.filter((one) => one === state).length])
  return { total: streams.length, byState: Object.fromEntries(numbers) }
}
