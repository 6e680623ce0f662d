import * as fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import type { ListCursor } from '../../src/core/list-cursor.ts'
import { type OwnerPage, OwnerQuarantine } from '../../src/ingest/quarantine/owner-quarantine.ts'
import { TestState } from '../support/test-state.ts'

const reasons = ['malformed', 'schema_mismatch', 'timestamp_in_future'] as const

interface Entry {
  readonly streamId: StreamId
  readonly id: number
  readonly receivedAtUs: number
  readonly bytes: number
  reason: string
}

let tests: TestState

beforeAll(async () => {
  tests = await TestState.open()
  // Streams are all that matters here, and not whose vaults they are in.
  await sql`PRAGMA foreign_keys = OFF`.execute(tests.state)
})

afterAll(async () => {
  await tests[Symbol.asyncDispose]()
})

/** Streams of two owners with refused readings, in the state and in a list. */
class Fleet {
  readonly owners: readonly [UserId, UserId] = [newId<UserId>(), newId<UserId>()]
  readonly streams = new Map<StreamId, UserId>()
  entries: Entry[] = []
  static #offset = 0

  static async of(streams: number): Promise<Fleet> {
    const fleet = new Fleet()
    for (let index = 0; index < streams; index++) await fleet.#addStream(index)
    return fleet
  }

  async #addStream(index: number): Promise<void> {
    const id = newId<StreamId>()
    const ownerId = this.owners[index % 3 === 2 ? 1 : 0]
    this.streams.set(id, ownerId)
    await tests.state
      .insertInto('data_streams')
      .values({
        id,
        owner_id: ownerId,
        vault_id: 'v',
        name: `stream ${index}`,
        name_folded: `stream ${index}`,
        tags: '{}',
        type: 'iot_sensor',
        created_at: index,
        version: 1,
        paused_at: null,
        last_event_at: null,
        kept_raw: null,
        kept_aggregated: null,
      })
      .execute()
  }

  stream(index: number): StreamId {
    const ids = [...this.streams.keys()]
    return ids[index % ids.length] as StreamId
  }

  async refuse(streamId: StreamId, reason: string, receivedAtUs: number, bytes: number) {
    const id = Fleet.#offset++
    this.entries.push({ streamId, id, reason, receivedAtUs, bytes })
    await tests.state
      .insertInto('quarantine')
      .values({
        stream_id: streamId,
        journal_offset: id,
        stream_version: 1,
        reason,
        message: 'is not valid',
        details: '[]',
        source: 'http',
        timestamp: null,
        received_at: receivedAtUs,
        is_element: 0,
        payload_bytes: bytes,
        payload: Buffer.alloc(bytes),
        owner_id: this.streams.get(streamId) ?? '',
      })
      .execute()
  }

  async rejudge(index: number, reason: string): Promise<void> {
    const entry = this.#entry(index)
    if (!entry) return
    entry.reason = reason
    await tests.state
      .updateTable('quarantine')
      .set({ reason })
      .where('journal_offset', '=', entry.id)
      .execute()
  }

  async release(index: number): Promise<void> {
    const entry = this.#entry(index)
    if (!entry) return
    this.entries = this.entries.filter((one) => one !== entry)
    await tests.state.deleteFrom('quarantine').where('journal_offset', '=', entry.id).execute()
  }

  /** Its entries are there for a while, as the decider may also still write some. */
  async deleteStream(index: number): Promise<void> {
    if (this.streams.size === 1) return
    const id = this.stream(index)
    this.streams.delete(id)
    await tests.state.deleteFrom('data_streams').where('id', '=', id).execute()
  }

  #entry(index: number): Entry | undefined {
    return this.entries[index % Math.max(1, this.entries.length)]
  }

  /** Entries of an owner that are shown, the newest first. */
  shown(owner: UserId): readonly Entry[] {
    return this.entries
      .filter(({ streamId }) => this.streams.get(streamId) === owner)
      .toSorted((one, other) => other.receivedAtUs - one.receivedAtUs || other.id - one.id)
  }
}

const times = fc.integer({ min: 0, max: 20 })
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('refuse' as const),
      at: fc.nat(20),
      reason: fc.constantFrom(...reasons),
      receivedAtUs: times,
      bytes: fc.nat(40),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('rejudge' as const),
      at: fc.nat(20),
      reason: fc.constantFrom(...reasons),
    }),
  },
  fc.record({ kind: fc.constant('release' as const), at: fc.nat(20) }),
  fc.record({ kind: fc.constant('delete' as const), at: fc.nat(20) }),
)

const steps = fc.array(step, { maxLength: 40, size: 'max' })

const filters = fc.record({
  reasons: fc.uniqueArray(fc.constantFrom(...reasons, 'no_reason')),
  startUs: fc.option(times, { nil: undefined }),
  endUs: fc.option(times, { nil: undefined }),
  ofStream: fc.option(fc.nat(20), { nil: undefined }),
})

async function after(done: readonly (typeof step extends fc.Arbitrary<infer One> ? One : never)[]) {
  const fleet = await Fleet.of(6)
  for (const one of done) {
    const { kind, at } = one
    if (kind === 'refuse') {
      await fleet.refuse(fleet.stream(at), one.reason, one.receivedAtUs, one.bytes)
    } else if (kind === 'rejudge') await fleet.rejudge(at, one.reason)
    else if (kind === 'release') await fleet.release(at)
    else await fleet.deleteStream(at)
  }
  return fleet
}

function placeOf({ next }: OwnerPage): ListCursor | undefined {
  return next && { createdAtUs: next.receivedAtUs, id: String(next.id) }
}

/** The state, with something that happens after each of the first statements that read it. */
function stateWith(happenings: (() => Promise<void>)[]) {
  return tests.state.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      await happenings.shift()?.()
      return result
    },
  })
}

describe('the quarantine of all streams of an owner', () => {
  test('comes page by page, each entry that is meant once, the newest first', async () => {
    const quarantine = new OwnerQuarantine(tests.state)
    const sizes = fc.record({ entries: fc.integer({ min: 1, max: 7 }), payloadBytes: fc.nat(90) })
    await fc.assert(
      fc.asyncProperty(steps, filters, sizes, async (done, filter, limits) => {
        const fleet = await after(done)
        const { ofStream, ...rest } = filter
        const streamId = ofStream === undefined ? undefined : fleet.stream(ofStream)
        const owner = streamId ? (fleet.streams.get(streamId) as UserId) : fleet.owners[0]
        const found: number[] = []
        let before: ListCursor | undefined
        do {
          const page = await quarantine.page(owner, { ...rest, streamId }, { before, limits })
          expect(page.entries.length).toBeLessThanOrEqual(limits.entries)
          found.push(...page.entries.map(({ id }) => id))
          before = placeOf(page)
        } while (before)

        const wanted = fleet
          .shown(owner)
          .filter((one) => streamId === undefined || one.streamId === streamId)
          .filter(
            (one) =>
              rest.reasons.length === 0 || rest.reasons.some((reason) => reason === one.reason),
          )
          .filter((one) => one.receivedAtUs >= (rest.startUs ?? 0))
          .filter((one) => one.receivedAtUs < (rest.endUs ?? Number.POSITIVE_INFINITY))
        expect(found).toEqual(wanted.map(({ id }) => id))
      }),
      { numRuns: 60 },
    )
  })

  test('comes whole though entries leave while they are looked for', async () => {
    const leaving = fc.array(fc.array(fc.nat(20), { maxLength: 4 }), { maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(steps, leaving, fc.integer({ min: 1, max: 4 }), async (done, gone, most) => {
        const fleet = await after(done)
        const [owner] = fleet.owners
        const happenings = gone.map((some) => async () => {
          for (const index of some) await fleet.release(index)
        })
        const quarantine = new OwnerQuarantine(stateWith(happenings))
        const filter = { reasons: [], startUs: undefined, endUs: undefined, streamId: undefined }
        const limits = { entries: most, payloadBytes: 90 }
        const found: number[] = []
        let before: ListCursor | undefined
        do {
          const page = await quarantine.page(owner, filter, { before, limits })
          found.push(...page.entries.map(({ id }) => id))
          before = placeOf(page)
        } while (before)

        const stayed = fleet.shown(owner).map(({ id }) => id)
        expect(found.filter((id) => stayed.includes(id))).toEqual(stayed)
      }),
      { numRuns: 100 },
    )
  })

  test('is counted by stream and reason, whatever happens to entries and streams', async () => {
    const quarantine = new OwnerQuarantine(tests.state)
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 9 }), async (done, limit) => {
        const fleet = await after(done)
        for (const owner of fleet.owners) {
          const shown = fleet.shown(owner)
          const groups = await quarantine.groups(owner, 1_000)
          const counts = new Map(
            groups.map((one) => [`${one.streamId} ${one.reason}`, one.entries]),
          )
          const wanted = Map.groupBy(shown, (one) => `${one.streamId} ${one.reason}`)

          expect(counts).toEqual(new Map([...wanted].map(([key, some]) => [key, some.length])))
          expect(await quarantine.groupCount(owner)).toBe(groups.length)
          expect(await quarantine.groups(owner, limit)).toEqual(groups.slice(0, limit))
          expect(groups.map(({ entries }) => entries)).toEqual(
            groups.map(({ entries }) => entries).toSorted((one, other) => other - one),
          )
          const all = await quarantine.counts(owner)
          expect(all.entries).toBe(shown.length)
          const byReason = Map.groupBy(shown, ({ reason }) => reason)
          expect(new Map(all.reasons.map((one) => [one.reason, one.entries]))).toEqual(
            new Map([...byReason].map(([reason, some]) => [reason, some.length])),
          )
        }
      }),
      { numRuns: 60 },
    )
  })
})
