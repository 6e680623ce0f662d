import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresLog } from '../../connectors/postgres-log/postgres-log.ts'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'
import { FetchingSource } from '../support/fetching-source.ts'
import { both, FollowedTable, reached } from '../support/followed-table.ts'
import { isPostgresMissing, Postgres } from '../support/postgres.ts'

let server: Postgres

beforeAll(async () => {
  if (!isPostgresMissing) server = await Postgres.start(['max_slot_wal_keep_size=1MB'])
})

afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

const patience = { timeout: 60_000, interval: 20 }

async function kept(follower: FetchingSource, numbers: readonly number[]) {
  await expect.poll(() => follower.entries().numbers, patience).toEqual(numbers)
  await expect.poll(() => follower.runner.status.unacknowledged, patience).toBe(0)
}

async function refused(follower: FetchingSource, reason: RegExp) {
  await expect.poll(() => follower.runner.status.lastError, patience).toMatch(reason)
  expect(follower.runner.status).toMatchObject({ state: 'failing', isLasting: true })
}

/** A table that has been followed, and is not any more. */
async function paused(more: Readonly<Record<string, unknown>> = {}) {
  const table = await FollowedTable.create(server, more)
  const follower = table.follower()
  follower.start()
  await reached(follower)
  await table.insert(1, 3)
  await kept(follower, [1, 2, 3])
  await follower.runner.stop()
  const [slot] = await table.slots()
  return { table, follower, slot: slot?.name ?? '' }
}

/** Changes of others, until the server has made files of its log anew. */
async function busyElsewhere(table: FollowedTable) {
  await table.client.query(`CREATE TABLE IF NOT EXISTS others AS SELECT n, repeat('x', 500) AS text
                              FROM generate_series(1, 60000) n`)
  await table.client.query('SELECT pg_switch_wal()')
  await table.client.query('CHECKPOINT')
}

describe.skipIf(isPostgresMissing)('a slot of a source', () => {
  test('is refused loudly when it was dropped before the first row', async () => {
    await using table = await FollowedTable.create(server)
    await using follower = table.follower()
    follower.start()
    await reached(follower)
    await follower.runner.stop()
    const [slot] = await table.slots()
    await table.drop(slot?.name ?? '')
    follower.start()
    await refused(follower, /slot streamvault_\w+ is gone: changes of the table since .* are lost/)
  })

  test('is refused loudly when it was made anew by somebody', async () => {
    const { table, follower, slot } = await paused()
    await using _ = both(table, follower)
    await table.drop(slot)
    await table.insert(4, 1)
    await table.client.query(`SELECT pg_create_logical_replication_slot($1, 'pgoutput')`, [slot])
    follower.start()
    await refused(follower, /was moved to .* by another client: changes .* are lost/)
    expect(follower.entries().numbers).toEqual([1, 2, 3])
  })

  test('is refused loudly when the server has kept no more of its log', async () => {
    const { table, follower } = await paused()
    await using _ = both(table, follower)
    await busyElsewhere(table)
    await table.client.query('DROP TABLE others')
    await busyElsewhere(table)
    follower.start()
    await refused(follower, /was invalidated, as the server kept no more of its log/)
  })

  test('holds no more of the log for a table that nothing happens to, and nothing is lost by it', async () => {
    await using table = await FollowedTable.create(server)
    await using follower = table.follower()
    follower.start()
    await reached(follower)
    const [before] = await table.slots()
    await table.client.query(
      `CREATE TABLE others AS SELECT n, repeat('x', 500) AS text FROM generate_series(1, 10000) n`,
    )
    await expect
      .poll(async () => {
        const [now] = await table.slots()
        return Number(now?.confirmed) - Number(before?.confirmed)
      }, patience)
      .toBeGreaterThan(4 * 1024 ** 2)
    await follower.runner.stop()
    await table.insert(1, 2)
    follower.start()
    await kept(follower, [1, 2])
  })

  test('lets the server be shut down without waiting for us', async () => {
    await using other = await Postgres.start()
    await using table = await FollowedTable.create(other)
    await using follower = table.follower()
    follower.start()
    await reached(follower)
    await table.client.query('CREATE TABLE others AS SELECT 1 AS n')
    const startedAt = performance.now()
    await other.stop()
    expect(performance.now() - startedAt).toBeLessThan(20_000)
  })

  test('is taken by one at a time: the other says so, and goes on when it is free', async () => {
    await using table = await FollowedTable.create(server, { slot: `shared_${Date.now()}` })
    await using one = table.follower()
    await using other = table.follower()
    one.start()
    await reached(one)
    other.start()
    await expect
      .poll(() => other.runner.status.lastError, patience)
      .toMatch(/is active for PID \d+: the slot is in use, perhaps by another service/)
    await one.runner.stop()
    await reached(other)
  })

  test('waits for transactions that are under way, and says so', async () => {
    await using table = await FollowedTable.create(server)
    await using follower = table.follower()
    await table.client.query('BEGIN')
    await table.client.query('SELECT txid_current()')
    follower.start()
    await expect
      .poll(() => follower.runner.status, patience)
      .toMatchObject({ state: 'connecting', lastError: expect.stringContaining('transactions') })
    await table.client.query('COMMIT')
    await reached(follower)
    expect(follower.runner.status.lastError).toBe(undefined)
  })

  test('is dropped with its publication when the source is released', async () => {
    const { table, follower } = await paused()
    await using _ = both(table, follower)
    const { streamId } = follower
    const allowed = new AllowedDestinations([{ host: '127.0.0.1', port: server.port }])
    const dial = guardedDial(new EgressGuard({ allowed }))
    const source = postgresLog.open({ streamId, source: table.source })
    const { signal } = new AbortController()
    await source.release?.({ dial, signal })
    expect(await table.slots()).toEqual([])
    expect((await table.client.query('SELECT FROM pg_publication')).rowCount).toBe(0)
    // What is gone already is no error.
    await source.release?.({ dial, signal })
  })
})
