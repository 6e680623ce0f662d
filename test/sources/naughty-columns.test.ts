import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { opcUaCredentials } from '../../scripts/servers/opcua.ts'
import { formatUs } from '../../src/core/time.ts'
import { FollowedTable } from '../support/followed-table.ts'
import { isMariadbMissing, Mariadb } from '../support/mariadb.ts'
import { naughtyNames, naughtyTexts } from '../support/naughty-texts.ts'
import { OpcUaTestServer } from '../support/opcua-server.ts'
import { isPostgresMissing, Postgres } from '../support/postgres.ts'
import { isRedisMissing, RedisServer } from '../support/redis-server.ts'
import { runningService } from '../support/running-service.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

/** Texts that are values, and names of values, of a source that has no messages: columns, fields, variables. */

const folder = new TemporaryFolder()
const service = runningService({
  STREAMVAULT_EGRESS_ALLOW: '127.0.0.1:1024-65535',
  STREAMVAULT_SQLITE_FOLDERS: folder.path,
})
let postgres: Postgres
let mariadb: Mariadb
let redis: RedisServer
let opcua: OpcUaTestServer

beforeAll(async () => {
  await Promise.all([
    isPostgresMissing || Postgres.start().then((server) => (postgres = server)),
    isMariadbMissing || Mariadb.start().then((server) => (mariadb = server)),
    isRedisMissing || RedisServer.start().then((server) => (redis = server)),
    OpcUaTestServer.start({ variables: { label: 'String' } }).then((server) => (opcua = server)),
  ])
}, 60_000)

afterAll(async () => {
  const servers = [postgres, mariadb, redis, opcua]
  await Promise.all(servers.map(async (one) => await one?.[Symbol.asyncDispose]()))
  folder[Symbol.dispose]()
})

const startUs = 1_767_225_600_000_000
const schedule = '* * * * * *'
const rows = naughtyTexts.map((text, id) => ({ id, timestamp: formatUs(startUs + id), text }))
const expected = rows.map(({ timestamp, text }) => ({ timestamp, text }))

/** Names that a field can have beside those that mean something else here. */
const names = naughtyNames.filter((name) => !/^(__proto__|timestamp|extra)$/.test(name))

/** In a query `${token}` stands for a secret. */
const aliases = names.filter((name) => !name.includes('${'))

async function streamOf(source: object, type: string, schema?: object): Promise<string> {
  const streamId = await service.api.createStream(schema ?? { text: { type: 'string' } }, {
    type,
    source,
  })
  await expect
    .poll(async () => (await service.api.status(streamId))['source'], { timeout: 20_000 })
    .toMatchObject({ state: expect.stringMatching(/running|waiting/) as unknown })
  return streamId
}

/** Why readings were refused, if any were. */
async function refusedOf(streamId: string): Promise<readonly string[]> {
  type Held = { readonly entries: readonly { readonly message: string }[] }
  const { body } = await service.api.withToken<Held>('GET', `/streams/${streamId}/quarantine`)
  return body.entries.map(({ message }) => message)
}

async function expectTexts(streamId: string): Promise<void> {
  await service.api.settled(streamId, rows.length)
  expect(await refusedOf(streamId)).toEqual([])
  expect(await service.api.readAll(streamId)).toEqual(expected)
  await service.api.withToken('DELETE', `/streams/${streamId}`)
}

/** One row with a column for each name, which says its place. */
async function expectNames(streamId: string, columns: readonly string[]): Promise<void> {
  // Where the server does not take the names there is nothing to wait for.
  await expect
    .poll(
      async () => {
        const { counters, source } = await service.api.status(streamId)
        return counters.received > 0
          ? undefined
          : ((source as Record<string, unknown>)['lastError'] ?? 'nothing')
      },
      { timeout: 20_000 },
    )
    .toBeUndefined()
  await service.api.settled(streamId, 1)
  expect(await refusedOf(streamId)).toEqual([])
  const [reading] = await service.api.readAll(streamId)
  expect(reading).toEqual({
    timestamp: '2026-01-01T00:00:00.000000Z',
    extra: Object.fromEntries(columns.map((name, place) => [name, place])),
  })
  await service.api.withToken('DELETE', `/streams/${streamId}`)
}

type Look = (name: string) => string

/** The first of the names that look alike to a server, which it takes for the same or calls otherwise. */
function unalike(columns: readonly string[], look: Look): readonly string[] {
  const first = new Map(columns.toReversed().map((name) => [look(name), name]))
  return columns.filter((name) => first.get(look(name)) === name)
}

const withoutCase: Look = (name) => name.toLowerCase()
const withoutAccents: Look = (name) => withoutCase(name.normalize('NFKD').replaceAll(/\p{M}/gu, ''))

function namedColumns(columns: readonly string[], quote: string): string {
  const quoted = (name: string) => quote + name.replaceAll(quote, quote + quote) + quote
  const list = columns.map((name, place) => `${place} AS ${quoted(name)}`)
  return `SELECT '2026-01-01T00:00:00Z' AS timestamp, ${list.join(', ')}`
}

const query = 'SELECT timestamp, text FROM readings ORDER BY id'

test('rows of SQLite', async () => {
  const file = folder.file('plant.db')
  const database = new DatabaseSync(file)
  database.exec('CREATE TABLE readings (id INTEGER PRIMARY KEY, timestamp TEXT, text TEXT)')
  const insert = database.prepare('INSERT INTO readings VALUES (?, ?, ?)')
  for (const { id, timestamp, text } of rows) insert.run(id, timestamp, text)
  database.close()
  const source = { protocol: 'sqlite', endpoint: file, schedule }
  await expectTexts(await streamOf({ ...source, query }, 'database'))

  // It calls columns otherwise that differ in case alone, and those called true and false.
  const columns = unalike(aliases, withoutCase).filter(
    (name) => name !== 'true' && name !== 'false',
  )
  const named = { ...source, query: namedColumns(columns, '"') }
  await expectNames(await streamOf(named, 'database'), columns)
})

describe.skipIf(isPostgresMissing)('PostgreSQL', () => {
  test('rows that are asked for', async () => {
    const server = postgres
    const client = await server.client('postgres')
    await client.query('CREATE TABLE readings (id int, timestamp timestamptz, text text)')
    for (const { id, timestamp, text } of rows) {
      await client.query('INSERT INTO readings VALUES ($1, $2, $3)', [id, timestamp, text])
    }
    const endpoint = server.endpoint('postgres')
    const { credentials } = server
    const source = { protocol: 'postgres', endpoint, credentials, schedule }
    await expectTexts(await streamOf({ ...source, query }, 'database'))

    // Longer ones it cuts off.
    const columns = aliases.filter((name) => Buffer.byteLength(name) <= 63)
    const named = { ...source, query: namedColumns(columns, '"') }
    await expectNames(await streamOf(named, 'database'), columns)
  })

  test('rows that are followed', async () => {
    const server = postgres
    const table = await FollowedTable.create(server)
    const columns = names.filter((name) => Buffer.byteLength(name) <= 63)
    const quoted = columns.map((name) => `"${name.replaceAll('"', '""')}"`)
    await table.client.query(
      `ALTER TABLE readings ADD text text, ${quoted.map((name) => `ADD ${name} int`).join(', ')}`,
    )
    const streamId = await streamOf(table.source, 'database')
    for (const { id, timestamp, text } of rows) {
      await table.client.query(
        `INSERT INTO readings (number, timestamp, text) VALUES ($1, $2, $3)`,
        [id, timestamp, text],
      )
    }
    await table.client.query(
      `INSERT INTO readings (number, timestamp, ${quoted.join(', ')})
       VALUES (-1, '2026-02-01T00:00:00Z', ${columns.map((_, place) => place).join(', ')})`,
    )
    await service.api.settled(streamId, rows.length + 1)
    expect(await refusedOf(streamId)).toEqual([])
    const all = await service.api.readAll(streamId)
    expect(all.slice(0, -1)).toEqual(
      rows.map(
        ({ id, timestamp, text }) =>
          expect.objectContaining({
            timestamp,
            text,
            extra: expect.objectContaining({ number: id }) as unknown,
          }) as unknown,
      ),
    )
    const { extra } = all.at(-1) ?? {}
    const named = columns.map((name, place) => [name, place] as const)
    expect(extra).toEqual({ number: -1, ...Object.fromEntries(named) })
    await service.api.withToken('DELETE', `/streams/${streamId}`)
    await table[Symbol.asyncDispose]()
  })
})

test.skipIf(isMariadbMissing)('rows of MariaDB', async () => {
  const server = mariadb
  const database = await server.newDatabase()
  const client = await server.client(database, { charset: 'utf8mb4' })
  await client.query(
    'CREATE TABLE readings (id int, timestamp varchar(40), text text CHARACTER SET utf8mb4)',
  )
  for (const { id, timestamp, text } of rows) {
    await client.execute('INSERT INTO readings VALUES (?, ?, ?)', [id, timestamp, text])
  }
  const endpoint = server.endpoint(database)
  const { credentials } = server
  const source = { protocol: 'mariadb', endpoint, credentials, schedule }
  await expectTexts(await streamOf({ ...source, query }, 'database'))

  // Its names are of the plane that it began with, begin and end with what can be seen, and differ in more than accents.
  const columns = unalike(aliases, withoutAccents).filter(
    (name) => !/[\u{10000}-\u{10FFFF}]|^[^\p{L}\p{N}\p{P}\p{S}\uFEFF]|\s$/u.test(name),
  )
  const named = { ...source, query: namedColumns(columns, '`') }
  await expectNames(await streamOf(named, 'database'), columns)
})

test.skipIf(isRedisMissing)('fields of entries of Redis', async () => {
  const server = redis
  const client = await server.client()
  const [texts, fields] = [server.newKey(), server.newKey()]
  const source = { protocol: 'redis', endpoint: server.endpoint }
  // The type says that it is a text, where it looks like a number.
  const shape = { format: 'csv', columns: ['timestamp', 'text'] }
  const ofTexts = await streamOf({ ...source, topic: texts, ...shape }, 'event_stream')
  for (const { timestamp, text } of rows) {
    await client.xadd(texts, '*', 'timestamp', timestamp, 'text', text)
  }
  await expectTexts(ofTexts)

  const ofNames = await streamOf({ ...source, topic: fields }, 'event_stream')
  const own = names.flatMap((name, place) => [name, String(place)])
  await client.xadd(fields, '*', 'timestamp', '2026-01-01T00:00:00Z', ...own)
  await expectNames(ofNames, names)
})

test('variables of OPC UA', async () => {
  const server = opcua
  const source = {
    protocol: 'opcua',
    endpoint: server.endpoint,
    credentials: opcUaCredentials,
    items: { text: 'ns=1;s=label' },
    samplingInterval: 0,
    publishingInterval: 50,
    queueSize: 5_000,
  }
  const streamId = await streamOf(source, 'manufacturing')
  const times = rows.map(({ id }) => formatUs(startUs + id * 1_000))
  await server.set(
    rows.map(({ id, text }) => ({ name: 'label', value: text, time: times[id] as string })),
  )
  await service.api.settled(streamId, rows.length)
  expect(await refusedOf(streamId)).toEqual([])
  expect(await service.api.readAll(streamId)).toEqual(
    rows.map(({ id, text }) => ({ timestamp: times[id], text })),
  )
})
