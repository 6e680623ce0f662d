import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../../scripts/servers/free-port.ts'
import { QuestDbConnection } from '../../../src/storage/time-series/questdb/connection.ts'
import { ReadingsLost } from '../../../src/storage/time-series/questdb/durability.ts'
import {
  columnsOf,
  createTable,
  quoted,
  storedDigest,
  tableOf,
} from '../../../src/storage/time-series/questdb/layout.ts'
import { QuestDbReader } from '../../../src/storage/time-series/questdb/read/reader.ts'
import type { AppliedStore } from '../../../src/storage/time-series/questdb/read/session.ts'
import { QuestDbSuspended } from '../../../src/storage/time-series/questdb/unapplied.ts'
import type { DataPoint, ReadingsCursor } from '../../../src/storage/time-series/readings-query.ts'
import { shapeOf } from '../../../src/storage/time-series/shape.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { aggregateQuery, marchUs, readingsQuery } from '../../support/stored-readings.ts'

const shape = shapeOf({ temperature: { type: 'number' } })

/** A row as it lies in the table. */
interface StoredRow {
  readonly temperature: number
  readonly offset: number
  readonly timestampUs?: number
  readonly digest?: bigint
  readonly removedBy?: number
}

describe.skipIf(isQuestDbMissing)('the reader', () => {
  let db: QuestDb

  beforeAll(async () => {
    db = await QuestDb.start()
  })

  afterAll(async () => {
    await db?.[Symbol.asyncDispose]()
  })

  /** A connection to a table with these rows, all of one stream. */
  async function connectionTo(...rows: readonly StoredRow[]): Promise<QuestDbConnection> {
    const server = db.newServer()
    const connection = new QuestDbConnection(server, { sockets: 2 })
    const table = quoted(tableOf(server.prefix, shape.id))
    await connection.run(createTable(tableOf(server.prefix, shape.id), shape))
    const names = columnsOf(shape).map(([name]) => quoted(name))
    for (const [index, row] of rows.entries()) {
      const { timestampUs = marchUs, digest = BigInt(index), offset, removedBy = 'null' } = row
      const stored = storedDigest(digest)
      // The null of QuestDB is a number that its SQL cannot write.
      const written = stored === -(2n ** 63n) ? 'null' : stored
      const values = `'boiler', ${timestampUs}, ${marchUs}, ${written}, ${offset}, ${removedBy}, null, null, ${row.temperature}`
      await connection.run(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${values})`)
    }
    await expect.poll(async () => countOf(connection, table)).toBe(rows.length)
    return connection
  }

  test('sees what was stored, and not removed, before the position', async () => {
    const connection = await connectionTo(
      { temperature: 1, offset: 3 },
      { temperature: 2, offset: 4, timestampUs: marchUs + 1 },
      { temperature: 3, offset: 9, timestampUs: marchUs + 2, removedBy: 10 },
      { temperature: 4, offset: 8, timestampUs: marchUs + 3, removedBy: 9 },
      { temperature: 5, offset: 10, timestampUs: marchUs + 2 },
    )
    const reader = new QuestDbReader({ connection, stored: storedUpTo(10, marchUs + 2) })

    const { points } = await reader.query(readingsQuery())
    const history = await reader.history({ streamId: 'boiler', after: start, limit: 9 })
    const latest = await reader.latest({ streamIds: ['boiler'], bytesMax: 1_000 })
    const aggregated = await reader.aggregate(aggregateQuery())

    expect(temperatures(points)).toEqual([1, 2, 3])
    expect(temperatures(history.points)).toEqual([1, 2, 3])
    expect(history.position).toBe(10)
    expect(temperatures(latest.readings.map(({ point }) => point))).toEqual([3])
    expect(aggregated.points).toMatchObject([{ count: 3, values: { temperature: 2 } }])
    expect(await reader.placeBeforeNewest('boiler', 1)).toEqual({
      timestampUs: marchUs + 2,
      digest: 1n,
    })
  })

  test('orders those of one time by digests of 64 bits without a sign', async () => {
    const half = 2n ** 63n
    const digests = [half, half - 1n, 0n, 2n * half - 1n, half + 1n, 1n]
    const connection = await connectionTo(
      ...digests.map((digest, offset) => ({ digest, offset, temperature: offset })),
    )
    const reader = new QuestDbReader({ connection, stored: storedUpTo(digests.length, marchUs) })

    const inOrder: unknown[] = []
    let after: ReadingsCursor | undefined
    do {
      const page = await reader.query(readingsQuery({ limit: 1, after }))
      inOrder.push(...temperatures(page.points))
      after = page.next
    } while (after)
    const fields = (['first', 'latest'] as const).map((name) => ({
      key: name,
      name: 'temperature',
      type: 'double' as const,
      function: name,
    }))
    const { points } = await reader.aggregate(aggregateQuery({ fields }))
    const latest = await reader.latest({ streamIds: ['boiler'], bytesMax: 1_000 })

    expect(inOrder).toEqual([2, 5, 1, 0, 4, 3])
    expect(points).toMatchObject([{ values: { first: 2, latest: 3 } }])
    expect(temperatures(latest.readings.map(({ point }) => point))).toEqual([3])
    expect(await reader.placeBeforeNewest('boiler', 3)).toMatchObject({ digest: half - 1n })
  })

  test('ends what takes too long, and says so', async () => {
    const connection = await connectionTo()
    const stored = { ...storedUpTo(1, marchUs), applied: never }
    const limits = { atOnce: 1, waitingMax: 1, ms: 10 }
    const reader = new QuestDbReader({ connection, stored, limits })

    const first = reader.query(readingsQuery())
    const second = reader.aggregate(aggregateQuery())
    await expect(reader.query(readingsQuery())).rejects.toMatchObject({ code: 'overloaded' })
    expect(reader.queries()).toEqual({ running: 1, waiting: 1 })

    await expect(first).rejects.toMatchObject({ code: 'query_too_slow' })
    await expect(second).rejects.toMatchObject({ code: 'query_too_slow' })
    expect(reader.queries()).toEqual({ running: 0, waiting: 0 })
  })

  test('ends what is being answered when it is closed', async () => {
    const connection = await connectionTo()
    const stored = { ...storedUpTo(1, marchUs), applied: never }
    const reader = new QuestDbReader({ connection, stored })

    const reading = reader.query(readingsQuery())
    reader.close()

    await expect(reading).rejects.toThrow('closed')
    await expect(reader.query(readingsQuery())).rejects.toThrow('closed')
  })

  test('ends what takes too much memory, and says so', async () => {
    const connection = await connectionTo()
    const noted = shapeOf({ note: { type: 'string' } })
    const table = quoted(tableOf(connection.server.prefix, noted.id))
    await connection.run(createTable(tableOf(connection.server.prefix, noted.id), noted))
    await connection.run(
      `INSERT INTO ${table} ("streamId", "timestamp", "$digest", "$offset", note)
       SELECT 'boiler', (${marchUs} + x * 86_400_000_000)::TIMESTAMP, x, 0, rpad('', 1_000_000, 'n')
       FROM long_sequence(70)`,
    )
    await expect.poll(async () => countOf(connection, table)).toBe(70)
    const stored = { ...storedUpTo(1, Number.MAX_SAFE_INTEGER), shapesOf: () => [noted] }
    const reader = new QuestDbReader({ connection, stored })
    const fields = [{ key: 'note', name: 'note', type: 'varchar', function: 'latest' } as const]

    const few = await reader.aggregate(aggregateQuery({ fields, limit: 3 }))
    expect(few.points.map(({ values }) => String(values['note']).length)).toEqual([1e6, 1e6, 1e6])
    const all = aggregateQuery({ fields, bytesMax: Number.POSITIVE_INFINITY })
    await expect(reader.aggregate(all)).rejects.toMatchObject({ code: 'query_too_slow' })
  })

  test('says that readings cannot be read while a table of theirs is suspended', async () => {
    const stored = { ...storedUpTo(1, marchUs), applied: suspended }
    const reader = new QuestDbReader({ connection: db.connection(), stored })
    const failure = reader.query(readingsQuery())
    await expect(failure).rejects.toMatchObject({ code: 'store_unavailable' })
    await expect(failure).rejects.not.toThrow('/var')
  })
})

test('says when the server is away, and not where it is', async () => {
  const port = await freePort()
  const host = '127.0.0.1'
  const server = { secure: false, host, port, user: undefined, prefix: 'away' }
  const connection = new QuestDbConnection(server, { sockets: 1 })
  const reader = new QuestDbReader({ connection, stored: storedUpTo(1, marchUs) })

  await expect(reader.query(readingsQuery())).rejects.toMatchObject({
    code: 'store_unavailable',
    retryable: true,
    message: 'the time-series store cannot be asked at the moment',
    cause: { message: expect.stringContaining(`${host}:${port}`) },
  })
})

test('says that readings were lost, and not which ones', async () => {
  const connection = new QuestDbConnection(unused, { sockets: 1 })
  const reader = new QuestDbReader({
    connection,
    stored: { ...storedUpTo(1, marchUs), applied: lost },
  })

  await expect(reader.query(readingsQuery())).rejects.toMatchObject({
    code: 'store_unavailable',
    message: expect.not.stringContaining('table'),
    cause: { message: expect.stringContaining('secret table') },
  })
})

const unused = { secure: false, host: '127.0.0.1', port: 9, user: undefined, prefix: 'unused' }

const start: ReadingsCursor = { timestampUs: -1, digest: 0n }

async function lost(): Promise<void> {
  throw new ReadingsLost('"secret table" ends at 3 of 5')
}

/** A store that is at a position and has one stream. */
function storedUpTo(position: number, timestampMaxUs: number): AppliedStore {
  return {
    position: () => position,
    stream: (id) => (id === 'boiler' ? { timestampMaxUs } : undefined),
    shapesOf: (id) => (id === 'boiler' ? [shape] : []),
    rollupOf: () => undefined,
    rollupDays: () => undefined,
    completeness: { reached: async () => 0, assertSince: async () => undefined },
    applied: async () => undefined,
  }
}

/** Rows that are not applied any more. */
async function suspended(): Promise<void> {
  throw new QuestDbSuspended('/var/lib is full')
}

/** Rows that are applied at no time. */
async function never(_: QuestDbConnection, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  const { promise, reject } = Promise.withResolvers<void>()
  signal?.addEventListener('abort', () => reject(signal.reason))
  await promise
}

async function countOf(connection: QuestDbConnection, table: string): Promise<number> {
  const { rows } = await connection.run(`SELECT count() FROM ${table}`)
  return Number(rows[0]?.[0])
}

function temperatures(points: readonly DataPoint[]): readonly unknown[] {
  return points.map(({ values }) => values['temperature'])
}
