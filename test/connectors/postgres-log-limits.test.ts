import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresLog } from '../../connectors/postgres-log/postgres-log.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { FetchingSource } from '../support/fetching-source.ts'
import { FollowedTable, reached } from '../support/followed-table.ts'
import { isPostgresMissing, Postgres } from '../support/postgres.ts'
import { RecordedRun } from '../support/recorded-run.ts'

let server: Postgres

beforeAll(async () => {
  if (!isPostgresMissing) server = await Postgres.start()
})

afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

const patience = { timeout: 60_000, interval: 20 }

const numbersTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** What the sender of the server waits for. */
async function waitOf(table: FollowedTable): Promise<unknown> {
  const { rows } = await table.client.query<{ wait_event: string }>(
    `SELECT wait_event FROM pg_stat_activity
      WHERE backend_type = 'walsender' AND datname = current_database()`,
  )
  return rows[0]?.wait_event
}

/** Resolves when the server cannot get rid of what it has, and nothing of it is taken any more. */
async function heldBack(table: FollowedTable, follower: FetchingSource): Promise<void> {
  let [taken, looks] = [0, 0]
  const look = async () => {
    const { unacknowledged } = follower.runner.status
    const isHeld = (await waitOf(table)) === 'WalSenderWriteData' && unacknowledged === taken
    looks = isHeld ? looks + 1 : 0
    taken = unacknowledged
    return looks
  }
  await expect.poll(look, { ...patience, interval: 100 }).toBeGreaterThanOrEqual(5)
}

/** By then a run that has ended would have been followed by the next one. */
const nextRunMs = 4_000

describe.skipIf(isPostgresMissing)('a follower of the log', () => {
  test('does not read again what is still on its way to the disk when the connection breaks', async () => {
    await using table = await FollowedTable.create(server)
    await using follower = table.follower()
    follower.start()
    await reached(follower)
    follower.journal.hold()
    await table.insert(1, 5)
    await expect.poll(() => follower.runner.status.unacknowledged, patience).toBe(1)
    await table.client.query(
      `SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE database = current_database()`,
    )
    await sleep(nextRunMs)
    expect(follower.runner.status.unacknowledged).toBe(1)
    follower.journal.release()
    await expect.poll(() => follower.runner.connections, patience).toBe(2)
    await table.insert(6, 1)
    await expect.poll(() => follower.entries().numbers.length, patience).toBeGreaterThan(5)
    expect(follower.entries().numbers).toEqual(numbersTo(6))
  })

  test('keeps a transaction of 50,000 rows in order, and little of it in memory while the disk is slow', async () => {
    await using table = await FollowedTable.create(server)
    await using follower = table.follower()
    follower.start()
    await reached(follower)
    follower.journal.hold()
    await table.client.query('ALTER TABLE readings ADD COLUMN note text')
    const before = process.memoryUsage.rss()
    await table.client.query(
      `INSERT INTO readings SELECT n, now(), repeat('x', 3000) FROM generate_series(1, 50000) n`,
    )
    await heldBack(table, follower)
    // 150 MB are there to be read, and a thousandth of the rows goes into a message.
    expect(follower.runner.status.unacknowledged).toBeLessThanOrEqual(20)
    expect(process.memoryUsage.rss() - before).toBeLessThan(80 * 1024 ** 2)
    follower.journal.release()
    await expect.poll(() => follower.runner.status.messages, patience).toBeGreaterThanOrEqual(100)
    await expect.poll(() => follower.entries().numbers.length, patience).toBe(50_000)
    expect(follower.entries().numbers).toEqual(numbersTo(50_000))
  })

  test('goes on where it was when the server has crashed and is back', async () => {
    await using other = await Postgres.start(['fsync=on'])
    const table = await FollowedTable.create(other)
    await using follower = table.follower()
    follower.start()
    await reached(follower)
    await table.insert(1, 1_200)
    await expect.poll(() => follower.entries().numbers.length, patience).toBeGreaterThan(0)
    await other.kill()
    await expect.poll(() => follower.runner.status.state, patience).toBe('failing')
    await other.start()
    await reached(follower)
    const client = await other.client(table.database)
    await table.insert(1_201, 5, client)
    await expect.poll(() => follower.entries().numbers.length, patience).toBe(1_205)
    expect(follower.entries().numbers).toEqual(numbersTo(1_205))
  })
})

/** What a run with other keys, or of another user, fails with. */
async function failureOf(
  table: FollowedTable,
  more: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const source = postgresLog.open({
    streamId: newId<StreamId>(),
    source: { ...table.source, ...more },
  })
  await using run = new RecordedRun(source, table.server.port)
  return await run.ended
}

describe.skipIf(isPostgresMissing)('a server that cannot be followed', () => {
  test('says what is to be done about it, without a password', async () => {
    await using table = await FollowedTable.create(server)
    const { client } = table
    const password = 'hunter-2-hunter-2'
    const suffix = table.database
    await client.query(`CREATE ROLE plain_${suffix} LOGIN PASSWORD '${password}'`)
    await client.query(`CREATE ROLE replicates_${suffix} LOGIN REPLICATION PASSWORD '${password}'`)
    await client.query('CREATE TABLE keyless (n int); CREATE VIEW shown AS SELECT 1 AS n')
    await client.query('CREATE PUBLICATION others FOR TABLE keyless')
    const credentials = (username: string) => ({ username: `${username}_${suffix}`, password })
    const cases: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[] = [
      [{ table: 'public.Readings' }, /no table public.Readings: upper and lower case/],
      [{ table: 'shown' }, /changes of public.shown are not in the log/],
      [
        { table: 'keyless', changes: 'insert_update' },
        /run ALTER TABLE "public"."keyless" REPLICA/,
      ],
      [{ publication: 'others' }, /run ALTER PUBLICATION "others" ADD TABLE "public"."readings"/],
      [{ publication: 'nobodys' }, /no publication nobodys: run CREATE PUBLICATION "nobodys" FOR/],
      [{ credentials: credentials('plain') }, /lacks a permission/],
      [{ credentials: credentials('nobody') }, /does not know this user name/],
      [{ credentials: credentials('replicates') }, /has to run CREATE PUBLICATION "streamvault_/],
      [{ endpoint: server.endpoint('nowhere') }, /no such database/],
      [{ tls: true }, /does not support SSL/],
    ]
    for (const [more, reason] of cases) {
      const failure = await failureOf(table, more)
      expect((failure as Error).message).toMatch(reason)
      if (more['tls'] === undefined) expect(failure).toMatchObject({ name: 'SourceRefused' })
      expect(String((failure as Error).stack)).not.toContain(password)
    }
    expect(await table.slots()).toEqual([])
  })

  test('is told that its log has to be a logical one', async () => {
    await using other = await Postgres.start(['wal_level=replica'])
    await using table = await FollowedTable.create(other)
    const failure = await failureOf(table, {})
    expect((failure as Error).message).toMatch(/wal_level is replica.*SET wal_level = 'logical'/)
  })
})

describe.skipIf(isPostgresMissing)('a trial of a table', () => {
  test('shows rows that are there, and leaves nothing on the server', async () => {
    await using table = await FollowedTable.create(server, { slot: 'of_somebody_else' })
    await table.insert(1, 30)
    const source = postgresLog.forTrial?.(table.source) ?? {}
    const opened = postgresLog.open({ streamId: newId<StreamId>(), source })
    await using run = new RecordedRun(opened, server.port)
    await expect.poll(() => run.rows.length, patience).toBe(20)
    expect(run.rows[0]).toBe('{"number":1,"timestamp":"2026-03-01T00:00:01Z"}')
    expect(await table.slots()).toEqual([])
    expect((await table.client.query('SELECT FROM pg_publication')).rowCount).toBe(0)
  })
})
