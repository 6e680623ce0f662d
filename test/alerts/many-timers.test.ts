import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AlertTimers, type ExpiredTimers } from '../../src/alerts/alert-timers.ts'
import { AlertWatch } from '../../src/alerts/alert-watch.ts'
import { TimerEntries } from '../../src/alerts/timer-entries.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { Decider } from '../../src/ingest/pipeline/decider.ts'
import { StateDecisionStore } from '../../src/ingest/pipeline/decision-store.ts'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { portionsOf } from '../../src/storage/state/portions.ts'
import { TestState } from '../support/test-state.ts'
import { acceptedReading } from '../support/written-entries.ts'

const count = 10_000
const millisecond = 1_000
const second = 1_000_000
const beganUs = 1_767_225_600_000_000
const holds = 20 * second

/** How often timers are looked for. */
const lookUs = 100 * millisecond

let tests: TestState
let nowUs: number
const clock = { nowUs: () => nowUs, steadyUs: () => nowUs }

beforeEach(async () => {
  tests = await TestState.open()
  nowUs = beganUs
  // Their vault is nobody's matter here, nor is a power cut.
  await sql`PRAGMA foreign_keys = OFF`.execute(tests.state)
  await sql`PRAGMA synchronous = OFF`.execute(tests.state)
})

afterEach(async () => await tests[Symbol.asyncDispose]())

/** What writes entries, decides and looks for timers, as a start of the service makes it. */
class Started {
  readonly #decider: Decider
  readonly #entries: TimerEntries
  readonly #timers: AlertTimers
  #writer = new EntryWriter()
  #rung: ExpiredTimers[] = []

  static async start(): Promise<Started> {
    const { state } = tests
    const watches = new AlertWatch({ state, clock, notify: async () => () => undefined })
    const store = new StateDecisionStore({ state, onDiscard: () => undefined, alerts: watches })
    return new Started(watches, await Decider.open(store, { watches }))
  }

  private constructor(watches: AlertWatch, decider: Decider) {
    const { state } = tests
    this.#decider = decider
    this.#timers = new AlertTimers({ state, clock, watches, ring: (one) => this.#rung.push(one) })
    this.#entries = new TimerEntries({
      state,
      clock,
      entries: { assertReady: () => undefined, add: (write) => write(this.#writer) },
    })
  }

  async decide(write: (writer: EntryWriter) => void): Promise<void> {
    write(this.#writer)
    const { bytes, count: entries } = this.#writer.take()
    if (entries === 0) return
    const firstOffset = this.#decider.position()
    await this.#decider.handle([{ firstOffset, count: entries, bytes }])
  }

  async look(): Promise<void> {
    await this.#timers.look()
    for (const expired of this.#rung.splice(0)) await this.#entries.write(expired)
    await this.decide(() => undefined)
  }
}

async function ruledStreams(): Promise<readonly StreamId[]> {
  const ids = Array.from({ length: count }, () => newId<StreamId>())
  const ownerId = await tests.newUser()
  const named = { name: 'heat', tags: '{}', created_at: 0, version: 1 }
  const rest = { type: 'iot_sensor', name_folded: 'heat', paused_at: null, last_event_at: null }
  const owned = { owner_id: ownerId, vault_id: ownerId, kept_raw: null, kept_aggregated: null }
  const rule = { id: 'hot', field: 'temperature', operator: '>', threshold: 80, for: '20s' }
  const schema = { temperature: { type: 'number' } }
  const processing = { alerting: [rule] }
  const definition = JSON.stringify({ source: {}, schema, processing, conversions: {} })
  const { state } = tests
  for (const some of portionsOf(ids)) {
    const versions = some.map((id) => ({ ...named, stream_id: id, definition, created_by: null }))
    await tests.commit(
      state
        .insertInto('data_streams')
        .values(some.map((id) => ({ ...named, ...rest, ...owned, id }))),
      state.insertInto('data_stream_versions').values(versions),
    )
  }
  return ids
}

interface Fired {
  readonly streamId: string
  /** When it fired, by its own time, and when that was known. */
  readonly at: number
  readonly knownAt: number
}

async function fired(): Promise<readonly Fired[]> {
  return await tests.state
    .selectFrom('alert_history')
    .select(['stream_id as streamId', 'at', 'received_at as knownAt'])
    .where('to_state', '=', 'firing')
    .execute()
}

test('each of ten thousand timers fires at the next look, once, and after a stop at the first one', async () => {
  const ids = await ruledStreams()
  let service = await Started.start()
  // One after the other: their timers run out a millisecond apart.
  await service.decide((writer) => {
    for (const [index, streamId] of ids.entries()) {
      const timestampUs = beganUs + index * millisecond
      const digest = index.toString(16).padStart(16, '0')
      const reading = acceptedReading({ timestampUs, values: '{"temperature":90}', digest })
      writer.accepted({ streamId, version: 1 }, reading, timestampUs)
    }
  })
  const dueAt = new Map(
    ids.map((id, index) => [id as string, beganUs + holds + index * millisecond]),
  )
  const stoppedUs = beganUs + holds + 4 * second
  const startedUs = stoppedUs + 3 * second
  for (nowUs = beganUs + holds - second; nowUs < stoppedUs; nowUs += lookUs) await service.look()
  nowUs = startedUs
  service = await Started.start()
  for (; nowUs <= beganUs + holds + 11 * second; nowUs += lookUs) await service.look()

  const all = await fired()
  expect(new Set(all.map(({ streamId }) => streamId)).size).toBe(count)
  expect(all).toHaveLength(count)
  const wrong = all.filter(({ streamId, at, knownAt }) => {
    const due = dueAt.get(streamId) ?? 0
    const wasMissed = due > stoppedUs - lookUs && due <= startedUs
    const latestUs = wasMissed ? startedUs : due + lookUs
    return at !== due || knownAt < due || knownAt > latestUs
  })
  expect(wrong).toEqual([])
})
