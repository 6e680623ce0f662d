import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Sealer } from '../../src/evidence/seals/sealer.ts'
import type { DuckDbStore } from '../../src/storage/time-series/duckdb/duckdb-store.ts'
import type { OpenStore } from '../contracts/open-store.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'
import { HandClock } from '../support/hand-clock.ts'
import { TestState } from '../support/test-state.ts'

const minuteUs = 60_000_000
const widthUs = 15 * minuteUs
const graceUs = 5 * minuteUs

let tests: TestState
/** Nothing is stored: stretches lose their marks, and get no seals. */
let opened: OpenStore<DuckDbStore>
let clock: HandClock

beforeAll(async () => {
  tests = await TestState.open()
  opened = await openDuckDbStore()
})

afterAll(async () => {
  await opened[Symbol.asyncDispose]()
  await tests[Symbol.asyncDispose]()
})

beforeEach(async () => {
  clock = new HandClock()
  await tests.commit(tests.state.deleteFrom('seal_marks'))
})

function newSealer(): Sealer {
  return new Sealer({
    state: tests.state,
    store: opened.store,
    clock,
    marks: { decidingUntil: 0, forgetAll: () => undefined, written: 0 },
    progress: { storedUntilUs: (nowUs) => nowUs, position: () => 0, isBehind: false },
    graceUs,
    ledger: { ledger: 'XRPL', network: 'sandbox' },
    onAnchors: () => undefined,
    onFailure: fail,
    onPutOff: (_, error) => fail(error),
  })
}

function fail(error: unknown): never {
  throw error
}

/** Marks stretches of a stream that are over, so many in a row; late data came at some time. */
async function mark(streamId: string, count: number, receivedAtUs: number): Promise<void> {
  const firstUs = Math.floor(clock.atUs / widthUs - count - 100) * widthUs
  const rows = Array.from({ length: count }, (_, index) => ({
    stream_id: streamId,
    start_us: firstUs + index * widthUs,
    width_us: widthUs,
    journal_offset: 0,
    due_at: receivedAtUs,
  }))
  await tests.commit(tests.state.insertInto('seal_marks').values(rows))
}

async function marked(streamId: string): Promise<number> {
  const rows = await tests.state
    .selectFrom('seal_marks')
    .selectAll()
    .where('stream_id', '=', streamId)
    .execute()
  return rows.length
}

test('a stream with thousands of stretches to be sealed lets others go first', async () => {
  await mark('crowding', 2_000, clock.atUs - 20 * minuteUs)
  await mark('other', 1, clock.atUs - 10 * minuteUs)
  const sealer = newSealer()

  for (let step = 0; step < 2; step++) await sealer.step()

  expect(await marked('other')).toBe(0)
  const left = await marked('crowding')
  expect(left).toBeGreaterThan(0)
  while (await sealer.step());
  expect(await marked('crowding')).toBe(0)
})

test('what came while the clock was a day ahead is sealed once that is set back', async () => {
  const sealer = newSealer()
  clock.step(24 * 60 * minuteUs)
  await mark('late', 1, clock.atUs)
  await sealer.step()
  expect(await marked('late')).toBe(1)

  clock.step(-24 * 60 * minuteUs)
  await sealer.step()
  expect(await marked('late')).toBe(1)
  clock.atUs += graceUs
  await sealer.step()

  expect(await marked('late')).toBe(0)
})

test('a clock that was set back while nothing ran leaves no stretch unsealed', async () => {
  await mark('late', 1, clock.atUs + 24 * 60 * minuteUs)
  const sealer = newSealer()
  await sealer.step()
  clock.atUs += graceUs
  await sealer.step()

  expect(await marked('late')).toBe(0)
})

test('a stretch that is not over is not sealed because of the clock', async () => {
  const startUs = Math.floor(clock.atUs / widthUs) * widthUs
  const due = startUs + widthUs
  const row = { stream_id: 'under way', start_us: startUs, width_us: widthUs, journal_offset: 0 }
  await tests.commit(tests.state.insertInto('seal_marks').values({ ...row, due_at: due }))
  const sealer = newSealer()
  await sealer.step()
  clock.step(minuteUs)
  await sealer.step()

  expect(await marked('under way')).toBe(1)
})
