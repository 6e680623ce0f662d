import { beforeAll, describe, expect, test, vi } from 'vitest'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { download, exported, parquetRows } from '../support/exports.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const schema = {
  temperature: { type: 'number' },
  steps: { type: 'integer' },
  mode: { type: 'string' },
  place: { type: 'object' },
  since: { type: 'datetime' },
  revision: { type: 'number' },
}

/** More windows than are read at once. */
const minutes = 1_203

function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 31, 10, 0, second)).toISOString().replace('Z', '000Z')
}

let streamId = ''

async function push(id: string, readings: readonly object[]): Promise<void> {
  const { received } = await service.api.settled(id)
  for (let from = 0; from < readings.length; from += 500) {
    const some = readings.slice(from, from + 500)
    expect((await service.api.withToken('POST', `/streams/${id}/data`, some)).status).toBe(202)
  }
  await service.api.settled(id, received + readings.length)
}

async function windows(id: string, query = '') {
  return await service.api.readAll(id, `&aggregation=window${query}`)
}

async function allKept(id: string): Promise<void> {
  const look = async () => {
    const open = (await windows(id)).filter(({ computedAt }) => computedAt === null)
    expect(open).toEqual([])
  }
  await vi.waitFor(look, { timeout: 60_000, interval: 200 })
}

/** The text of the one file of an export. */
async function textOf(body: object): Promise<string> {
  const job = await exported(service.api, { aggregation: 'window', ...body })
  expect([job.state, job.failure, job.files.length]).toEqual(['completed', null, 1])
  return await (await download(service, job, job.files[0])).text()
}

beforeAll(async () => {
  streamId = await service.api.createStream(schema, {
    processing: { frequency: '1m', aggregation: 'average' },
  })
  await push(
    streamId,
    Array.from({ length: minutes }, (_, minute) => ({
      timestamp: at(minute * 60),
      temperature: minute / 7,
      steps: minute,
      ...(minute % 2 === 0 && { mode: 'a "quoted", text' }),
      ...(minute % 3 === 0 && { place: { x: minute }, since: at(minute), revision: minute }),
    })),
  )
  await allKept(streamId)
  await push(streamId, [{ timestamp: at(1), steps: 1 }])
  const range = `?start=${at(60)}&end=${at(120)}`
  await service.api.withToken('DELETE', `/streams/${streamId}/data${range}`)
  await allKept(streamId)
})

describe('an export of windows', () => {
  test('has as NDJSON what a query answers, revised and emptied windows among it', async () => {
    const text = await textOf({ streamIds: [streamId], format: 'ndjson' })
    const lines = text.trimEnd().split('\n')
    const rows = lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)

    const expected = await windows(streamId)
    expect(expected).toHaveLength(minutes)
    expect(expected.slice(0, 2)).toMatchObject([
      { steps: 0.5, count: 2, revision: 2 },
      { count: 0, revision: 2 },
    ])
    expect(rows).toEqual(expected.map((window) => ({ streamId, ...window })))
  })

  test('has as CSV what a query answers, with the stream in front', async () => {
    const text = await textOf({ streamIds: [streamId], format: 'csv' })
    const path = `/streams/${streamId}/data?aggregation=window`
    const headers = { authorization: `Bearer ${await service.api.token()}`, accept: 'text/csv' }
    const asked = await (await fetch(service.process.http + path, { headers })).text()

    const [head = '', ...lines] = text.trimEnd().split('\r\n')
    const [askedHead = '', ...askedLines] = asked.trimEnd().split('\r\n')
    expect(lines).toHaveLength(minutes)
    expect(head).toBe(`streamId,${askedHead}`)
    expect(lines).toEqual(askedLines.map((line) => `${streamId},${line}`))
  })

  test('has typed columns as Parquet', async () => {
    const body = { streamIds: [streamId], format: 'parquet', aggregation: 'window' }
    const job = await exported(service.api, body)
    const bytes = await (await download(service, job, job.files[0])).arrayBuffer()
    const { rows, types } = await parquetRows(bytes)

    expect(types).toEqual({
      streamId: 'VARCHAR',
      timestamp: 'TIMESTAMP WITH TIME ZONE',
      mode: 'VARCHAR',
      place: 'VARCHAR',
      'revision:value': 'DOUBLE',
      since: 'TIMESTAMP WITH TIME ZONE',
      steps: 'DOUBLE',
      temperature: 'DOUBLE',
      count: 'BIGINT',
      revision: 'BIGINT',
      computedAt: 'TIMESTAMP WITH TIME ZONE',
    })
    expect(rows).toEqual((await windows(streamId)).map(parquetRowOf))
  })

  test('has the windows that begin in the range, and the fields that are asked for', async () => {
    const range = { start: at(61), end: at(240) }
    const asked = { streamIds: [streamId], format: 'csv', fields: ['steps', 'revision'], ...range }
    const [head, ...lines] = (await textOf(asked)).trimEnd().split('\r\n')

    expect(head).toBe('streamId,timestamp,steps,revision:value,count,revision,computedAt')
    expect(lines.map((line) => line.split(',').slice(1, 6))).toEqual([
      [at(120), '2', '', '1', '1'],
      [at(180), '3', '3', '1', '1'],
    ])
    const rows = (await textOf({ ...asked, format: 'ndjson' })).trimEnd().split('\n')
    const query = `&start=${range.start}&end=${range.end}&fields=steps,revision`
    const expected = await windows(streamId, query)
    expect(rows.map((row) => JSON.parse(row) as object)).toEqual(
      expected.map((window) => ({ streamId, ...window })),
    )
  })

  test('shows open windows as they are, which are not computed yet', async () => {
    const id = await service.api.createStream(
      { temperature: { type: 'number' } },
      { processing: { frequency: '366d', aggregation: 'max' } },
    )
    const timestamp = new Date().toISOString()
    await push(id, [{ timestamp, temperature: 7 }])

    const text = await textOf({ streamIds: [id], format: 'ndjson' })
    expect(JSON.parse(text)).toMatchObject({ temperature: 7, count: 1, computedAt: null })
  })

  test('has no file of a stream that has no windows, and one of a stream that had some', async () => {
    const without = await service.api.createStream({ temperature: { type: 'number' } })
    const had = await service.api.createStream(
      { temperature: { type: 'number' } },
      { processing: { frequency: '1m', aggregation: 'max' } },
    )
    await push(had, [{ timestamp: at(0), temperature: 1 }])
    await service.api.withToken('PUT', `/streams/${had}`, { processing: {} })

    const body = { streamIds: [without, had], format: 'ndjson', aggregation: 'window' }
    const job = await exported(service.api, body)
    expect(job.files.map((file) => [file.streamId, file.rows])).toEqual([[had, 1]])
    const alone = await service.api.withToken<ErrorBody>('POST', '/exports', {
      ...body,
      streamIds: [without],
    })
    expect([alone.status, alone.body.error]).toEqual([422, 'unsupported_query'])
  })

  test.each([
    [{ fields: ['steps:max'] }, 'fields'],
    [{ fields: ['pressure'] }, 'fields'],
    [{ tz: 'Mars' }, 'tz'],
  ])('is not made with %j', async (wrong, path) => {
    const body = { streamIds: [streamId], format: 'csv', aggregation: 'window', ...wrong }
    const { status, body: answer } = await service.api.withToken<ErrorBody>(
      'POST',
      '/exports',
      body,
    )
    expect(answer).toMatchObject({ error: 'invalid_request', details: [{ path }] })
    expect(status).toBe(400)
  })
})

/** What a window is in a file: numbers of 64 bits come as texts, and what is absent is null. */
function parquetRowOf(window: Readonly<Record<string, unknown>>) {
  const { place, since = null, timestamp, computedAt, count, revision, ...rest } = window
  return {
    streamId,
    mode: null,
    'revision:value': null,
    steps: null,
    temperature: null,
    ...rest,
    timestamp: parquetTime(timestamp),
    place: place === undefined ? null : JSON.stringify(place),
    since: since === null ? null : parquetTime(since),
    count: String(count),
    revision: String(revision),
    computedAt: parquetTime(computedAt),
  }
}

/** As DuckDB writes a time: without the zeros at its end. */
function parquetTime(text: unknown): string {
  const plain = String(text).replace(/\.?0*Z$/, '')
  return `${plain.replace('T', ' ')}+00`
}
