import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, test } from 'vitest'
import { imported, sendImport } from '../support/imports.ts'
import { runningService } from '../support/running-service.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const service = runningService({ STREAMVAULT_IMPORT_MAX: '12MiB' })

const schema = { temperature: { type: 'number' }, mode: { type: 'string' } }

/** A Parquet file of what a query gives. */
async function parquetOf(query: string): Promise<Uint8Array<ArrayBuffer>> {
  using folder = new TemporaryFolder()
  const path = folder.file('hostile.parquet')
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run(`COPY (${query}) TO '${path}' (FORMAT parquet, COMPRESSION zstd)`)
  connection.closeSync()
  instance.closeSync()
  return new Uint8Array(readFileSync(path))
}

const good = "SELECT TIMESTAMPTZ '2026-01-31 10:00:00Z' AS timestamp, 1.5::DOUBLE AS temperature"

/** What the folder of imports holds. */
function filesKept(): readonly string[] {
  const folder = join(service.process.dataDir, 'imports')
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
}

describe('a file fails, and nothing else does, when it is', () => {
  test.each([
    ['not Parquet', Buffer.from('PAR1 is how it begins, and how it ends: PAR1')],
    ['random bytes', Buffer.from(Array.from({ length: 5_000 }, (_, at) => (at * 7919) % 251))],
  ])('%s', async (_, content) => {
    const id = await service.api.createStream(schema)
    const job = await imported(service, id, { format: 'parquet', content })

    expect(job).toMatchObject({ state: 'failed', failure: { error: 'malformed_body' } })
    expect(job.failure?.message).not.toContain(service.process.dataDir)
  })

  test.each([0.3, 0.6, 0.95])('a Parquet file with a hole at %f of it', async (share) => {
    const content = await parquetOf(
      `SELECT TIMESTAMPTZ '2026-01-31 10:00:00Z' + to_seconds(i) AS timestamp, random() AS temperature FROM range(5000) AS r(i)`,
    )
    content.fill(0xa5, Math.floor(content.length * share), Math.floor(content.length * share) + 64)
    const id = await service.api.createStream(schema)
    const job = await imported(service, id, { format: 'parquet', content })

    expect(['failed', 'completed']).toContain(job.state)
    expect((await service.api.settled(id)).stored).toBe(job.accepted)
  })

  test('a Parquet file whose few bytes are a text of 150 million', async () => {
    const content = await parquetOf(`${good}, repeat('a', 150000000) AS mode`)
    const id = await service.api.createStream(schema)
    const job = await imported(service, id, { format: 'parquet', content })

    expect(content.length).toBeLessThan(1_000_000)
    expect(job.accepted).toBe(0)
    expect((await service.api.withToken('GET', '/health/ready')).status).toBe(200)
  })

  test.each([
    ['csv', `timestamp,mode\n2026-01-31T10:00:00Z,"${'x'.repeat(9_000_000)}`],
    ['ndjson', `{"timestamp":"2026-01-31T10:00:00Z","mode":"${'x'.repeat(9_000_000)}`],
  ] as const)('%s with a line that does not end', async (format, content) => {
    const id = await service.api.createStream(schema)
    const job = await imported(service, id, { format, content })

    expect(job).toMatchObject({ state: 'failed', failure: { error: 'malformed_body' } })
    expect(job.failure?.message).toContain('does its line end')
  })

  test.each([
    ['temperature,mode\n1,a\n', 'no column timestamp'],
    ['timestamp,mode,mode\n2026-01-31T10:00:00Z,a,b\n', "once; see 'mode'"],
    ['timestamp,,mode\n2026-01-31T10:00:00Z,a,b\n', 'must name each column'],
  ])('CSV with the head of %j', async (content, message) => {
    const id = await service.api.createStream(schema)
    const job = await imported(service, id, { format: 'csv', content })

    expect(job.state).toBe('failed')
    expect(job.failure?.message).toContain(message)
  })

  test('Parquet without a time', async () => {
    const id = await service.api.createStream(schema)
    const content = await parquetOf('SELECT 1.5::DOUBLE AS temperature')
    const job = await imported(service, id, { format: 'parquet', content })

    expect(job.failure?.message).toContain('no column timestamp')
  })
})

test('columns with the names of SQL are columns, and nothing else', async () => {
  const id = await service.api.createStream(schema)
  const content = await parquetOf(`${good}, 'x' AS "mode"" FROM x; --", 'y' AS "':flag'"`)
  const job = await imported(service, id, { format: 'parquet', content })

  expect(job).toMatchObject({ state: 'completed', accepted: 1 })
  expect(await service.api.readAll(id)).toEqual([
    expect.objectContaining({ extra: { 'mode" FROM x; --': 'x', "':flag'": 'y' } }),
  ])
})

test('a row with other values than the head names is refused, and those around it are not', async () => {
  const id = await service.api.createStream(schema)
  const content = [
    'timestamp,temperature,mode',
    '2026-01-31T10:00:00Z,1,a',
    '2026-01-31T10:00:01Z,2',
    '2026-01-31T10:00:02Z,3,b,c',
    '2026-01-31T10:00:03Z,9007199254740993,d',
    '2026-01-31T10:00:04Z,5,e',
  ].join('\n')
  const job = await imported(service, id, { format: 'csv', content })

  expect(job).toMatchObject({ state: 'completed', accepted: 2, refused: 3 })
  expect(job.refusals.map(({ row, error }) => [row, error])).toEqual([
    [2, 'malformed'],
    [3, 'malformed'],
    [4, 'malformed'],
  ])
})

test('a file that is too large is refused, and leaves nothing', async () => {
  const id = await service.api.createStream(schema)
  const before = filesKept()
  const content = 'x'.repeat(12 * 1024 * 1024 + 1)
  const answer = await sendImport(service, id, { format: 'csv', content })

  expect([answer.status, answer.body['error']]).toEqual([413, 'body_too_large'])
  expect(filesKept()).toEqual(before)
})

test('a file that is cut off leaves nothing', async () => {
  const id = await service.api.createStream(schema)
  const before = filesKept()
  const { hostname, port } = new URL(service.process.http)
  const headers = {
    authorization: `Bearer ${await service.api.token()}`,
    'content-type': 'text/csv',
    'content-length': '100000',
  }
  const path = `/streams/${id}/import`
  const sending = request({ hostname, port, path, method: 'POST', headers })
  sending.on('error', () => undefined)
  sending.write('timestamp,temperature\n')
  await expect.poll(filesKept).not.toEqual(before)
  sending.destroy()

  await expect.poll(filesKept).toEqual(before)
})
