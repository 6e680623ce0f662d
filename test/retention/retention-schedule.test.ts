import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { expiryOf, RetentionSchedule } from '../../src/reading/retention/retention-schedule.ts'
import {
  firstKept,
  type KeptCursor,
  keptStreams,
} from '../../src/reading/retention/retention-store.ts'
import type { Expiry } from '../../src/storage/time-series/expiry.ts'
import { openDuckDbStore } from '../support/duckdb-store.ts'
import { allPoints, hourUs, marchUs, ship, storedReading } from '../support/stored-readings.ts'
import { TestState } from '../support/test-state.ts'

const dayUs = 24 * hourUs

interface Kept {
  readonly raw?: string
  readonly aggregated?: string
}

/** A vault with streams; each says something itself, or nothing. */
async function fill(
  { state }: TestState,
  vault: Kept & { readonly id: string },
  streams: Readonly<Record<string, Kept>>,
): Promise<void> {
  await sql`PRAGMA foreign_keys = OFF`.execute(state)
  await sql`INSERT INTO vaults (id, owner_id, created_at, template_id, name, status, ledger, public,
      kept_raw, kept_aggregated)
    VALUES (${vault.id}, 'ada', 0, 't', 'v', 's', 'XRPL', 0, ${vault.raw ?? null},
      ${vault.aggregated ?? null})`.execute(state)
  for (const [id, { raw = null, aggregated = null }] of Object.entries(streams)) {
    await sql`INSERT INTO data_streams (id, owner_id, vault_id, name, type, created_at, version,
        kept_raw, kept_aggregated)
      VALUES (${id}, 'ada', ${vault.id}, 'n', 'iot_sensor', 0, 1, ${raw}, ${aggregated})`.execute(
      state,
    )
  }
}

async function allKept({ state }: TestState, limit: number) {
  const found: [string, string | null, string | null][] = []
  let pages = 0
  for (let after: KeptCursor | undefined = firstKept; after !== undefined; pages++) {
    const page = await keptStreams(state, after, limit)
    for (const { streamId, raw, aggregated } of page.streams) {
      found.push([streamId, raw, aggregated])
    }
    expect(page.streams.length).toBeLessThanOrEqual(limit)
    after = page.next
    if (pages > 100) throw new Error('the list has no end')
  }
  return found
}

describe('streams with a retention', () => {
  test.each([1, 2, 3, 100])('are found once each, %i at a time', async (limit) => {
    await using state = await TestState.open()
    await fill(state, { id: 'v1' }, { a: {}, b: { raw: '1d' }, c: { aggregated: '2d' } })
    await fill(state, { id: 'v2', raw: '3d' }, { d: {}, e: { raw: 'forever' }, f: {} })
    await fill(state, { id: 'v3', aggregated: '4d' }, { g: {}, h: { raw: '5d' }, i: {} })
    await fill(state, { id: 'v4', raw: '6d', aggregated: '7d' }, {})

    expect(await allKept(state, limit)).toEqual([
      ['b', '1d', null],
      ['c', null, '2d'],
      ['e', 'forever', null],
      ['h', '5d', '4d'],
      ['d', '3d', null],
      ['f', '3d', null],
      ['g', null, '4d'],
      ['i', null, '4d'],
    ])
  })

  test('are found by an index', async () => {
    await using state = await TestState.open()
    const { rows } = await sql<{ detail: string }>`EXPLAIN QUERY PLAN
      SELECT id FROM data_streams WHERE (kept_raw IS NOT NULL OR kept_aggregated IS NOT NULL)
        AND id > '' ORDER BY id`.execute(state.state)
    expect(rows.map(({ detail }) => detail).join()).toContain('data_streams_by_retention')
  })
})

describe('the time from which on readings are kept', () => {
  const nowUs = marchUs + 12 * hourUs + 34 * 60_000_000 + 56_789_012
  const beforeOf = (raw: string | null) =>
    expiryOf({ streamId: 's', raw, aggregated: null }, nowUs)?.beforeUs

  test.each([
    ['30d', marchUs + 12 * hourUs - 30 * dayUs],
    ['1d', marchUs + 12 * hourUs - dayUs],
    ['36h', marchUs - dayUs],
    ['23h', marchUs + 12 * hourUs + 34 * 60_000_000 - 23 * hourUs],
    ['90s', marchUs + 12 * hourUs + 33 * 60_000_000],
    ['forever', undefined],
    [null, undefined],
    ['36500d', undefined],
  ])('for %s is never too early', (raw, expected) => {
    expect(beforeOf(raw)).toBe(expected)
  })
})

/** Runs passes of a schedule at times that a test chooses. */
async function passAt(subject: {
  readonly state: TestState
  readonly store: ConstructorParameters<typeof RetentionSchedule>[0]['store']
  readonly nowUs: number
}) {
  const logged: object[] = []
  const schedule = new RetentionSchedule({
    state: subject.state.state,
    store: subject.store,
    clock: { nowUs: () => subject.nowUs, steadyUs: () => subject.nowUs },
    logger: {
      info: (facts) => void logged.push(facts),
      error: (facts) => void logged.push(facts),
    },
  })
  schedule.start()
  await expect.poll(() => schedule.status().passes + schedule.status().failures).toBe(1)
  await schedule.stop()
  return { logged, status: schedule.status() }
}

describe('a pass', () => {
  test('takes what is too old of each stream, and says so', async () => {
    await using state = await TestState.open()
    await using opened = await openDuckDbStore()
    await fill(state, { id: 'v', raw: '2d' }, { boiler: {}, pump: { raw: '1d' } })
    await fill(state, { id: 'w' }, { fan: {} })
    const ages = [3, 1.5, 0.5]
    for (const streamId of ['boiler', 'pump', 'fan']) {
      await ship(
        opened.store,
        ages.map((age) => storedReading({ streamId, timestampUs: marchUs - age * dayUs })),
      )
    }

    const { store } = opened
    const first = await passAt({ state, store, nowUs: marchUs })
    const again = await passAt({ state, store, nowUs: marchUs })

    expect(first.logged).toEqual([expect.objectContaining({ readings: 3, streams: 2 })])
    expect(first.status).toMatchObject({ isRunning: false, streams: 2, failures: 0 })
    expect(again.logged).toEqual([])
    const left = async (streamId: string) => (await allPoints(store, { streamId })).length
    expect(await Promise.all(['boiler', 'pump', 'fan'].map(left))).toEqual([2, 1, 3])
  })

  test('that fails says so, and is done again', async () => {
    await using state = await TestState.open()
    await fill(state, { id: 'v', raw: '2d' }, { boiler: {} })
    let fails = true
    const asked: Expiry[] = []
    const store = {
      totals: () => ({ stored: 0, duplicates: 0, deleted: 0, expired: 0, unchanged: 0 }),
      async expire(expiries: readonly Expiry[]) {
        if (fails) throw new Error('the disk is full')
        asked.push(...expiries)
      },
      windows: { expire: async () => false },
    }
    const failed = await passAt({ state, store, nowUs: marchUs })
    fails = false
    const done = await passAt({ state, store, nowUs: marchUs })

    expect([failed.status.failures, failed.logged.length]).toEqual([1, 1])
    expect(done.status).toMatchObject({ passes: 1, failures: 0 })
    expect(asked).toEqual([{ streamId: 'boiler', beforeUs: marchUs - 2 * dayUs }])
  })
})
