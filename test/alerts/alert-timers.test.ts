import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { AlertTimers, type ExpiredTimers } from '../../src/alerts/alert-timers.ts'
import { AlertWatch } from '../../src/alerts/alert-watch.ts'
import { TimerEntries } from '../../src/alerts/timer-entries.ts'
import { kindAlertTimer } from '../../src/ingest/pipeline/entry.ts'
import { EntryReader } from '../../src/ingest/pipeline/entry-reader.ts'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { TestState } from '../support/test-state.ts'

const second = 1_000_000

let tests: TestState
let nowUs: number
let rung: ExpiredTimers[]
let timers: AlertTimers
const clock = { nowUs: () => nowUs, steadyUs: () => nowUs }

beforeEach(async () => {
  tests = await TestState.open()
  nowUs = 1_000 * second
  rung = []
  timers = started()
})

afterEach(async () => await tests[Symbol.asyncDispose]())

/** As a start of the service does: nothing is remembered of the time before. */
function started(): AlertTimers {
  const { state } = tests
  const watches = new AlertWatch({ state, clock, notify: async () => () => undefined })
  return new AlertTimers({ state, clock, watches, ring: (expired) => rung.push(expired) })
}

/** Streams whose timers run out at a time. */
async function due(count: number, dueUs: number): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, () => randomUUID() as string)
  const saved = {
    version: 1,
    newest_version: 1,
    fleet_rules: '[]',
    memories: '{}',
    digests: '[]',
    sequences: '{}',
  }
  for (let from = 0; from < count; from += 1_000) {
    const rows = ids
      .slice(from, from + 1_000)
      .map((id) => ({ stream_id: id, ...saved, due_at: dueUs }))
    await tests.commit(tests.state.insertInto('alert_memories').values(rows))
  }
  return ids
}

test('ten thousand timers that run out at once are rung for together, once', async () => {
  const ids = await due(10_000, nowUs + second)
  await timers.look()
  expect(rung).toEqual([])

  nowUs += second
  await timers.look()
  await timers.look()

  expect(rung.map(({ dueUs }) => dueUs)).toEqual([nowUs])
  expect(rung[0]?.streamIds.toSorted()).toEqual(ids.toSorted())
})

test('a timer that ran out while the service was stopped is rung for at the start', async () => {
  const ids = await due(1, nowUs - 3_600 * second)

  await started().look()

  expect(rung).toEqual([{ streamIds: ids, dueUs: nowUs }])
})

test('a timer that readings have put off is not rung for, and is looked at again when it is due', async () => {
  const laterUs = nowUs + 5 * second
  await due(1, nowUs)
  const { state } = tests
  const watches = { dueUsAtHand: () => laterUs }
  timers = new AlertTimers({ state, clock, watches, ring: (expired) => rung.push(expired) })

  await timers.look()

  expect(rung).toEqual([])
  const rows = await state.selectFrom('alert_memories').select('due_at').execute()
  expect(rows).toEqual([{ due_at: laterUs }])
})

test('very many that do not come back keep no other one waiting', async () => {
  await due(10_000, nowUs)
  await timers.look()
  nowUs += second
  const [other] = await due(1, nowUs)

  await timers.look()

  expect(rung.at(-1)).toEqual({ streamIds: [other], dueUs: nowUs })
})

test('a timer whose entry does not come back is rung for again', async () => {
  const ids = await due(1, nowUs)
  await timers.look()
  nowUs += 9 * second
  await timers.look()
  expect(rung).toHaveLength(1)

  nowUs += second
  await timers.look()

  expect(rung.map(({ streamIds }) => streamIds)).toEqual([ids, ids])
})

test('the next timer of a stream does not wait for the one before', async () => {
  const [id = ''] = await due(1, nowUs)
  await timers.look()
  nowUs += second
  await tests.commit(
    tests.state.updateTable('alert_memories').set({ due_at: nowUs }).where('stream_id', '=', id),
  )

  await timers.look()

  expect(rung).toHaveLength(2)
})

test('timers are written for streams that are there, and for no deleted one', async () => {
  const [kept, deleted] = [randomUUID(), randomUUID()]
  const { state } = tests
  await sql`PRAGMA foreign_keys = OFF`.execute(state)
  const stream = { id: kept, owner_id: kept, vault_id: kept, name: 'heat', name_folded: 'heat' }
  const rest = { tags: '{}', type: 'iot_sensor', created_at: 0, version: 7 }
  const none = { paused_at: null, last_event_at: null, kept_raw: null, kept_aggregated: null }
  await tests.commit(state.insertInto('data_streams').values({ ...stream, ...rest, ...none }))
  const writer = new EntryWriter()
  const entries = {
    assertReady: () => undefined,
    add: (write: (into: EntryWriter) => void) => write(writer),
  }

  await new TimerEntries({ state, entries, clock }).write({ streamIds: [deleted, kept], dueUs: 5 })

  const { bytes, count } = writer.take()
  const entry = new EntryReader(bytes)
  entry.next()
  expect([count, entry.kind, entry.streamVersion]).toEqual([1, kindAlertTimer, 7])
  expect([entry.timestampUs, entry.receivedAtUs]).toEqual([5, nowUs])
})
