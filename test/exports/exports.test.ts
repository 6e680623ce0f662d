import { createHash } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { download, exported, parquetRows } from '../support/exports.ts'
import { newPerson, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const schema = {
  temperature: { type: 'number', range: [-40, 125] },
  count_: { type: 'integer' },
  isOpen: { type: 'boolean' },
  mode: { type: 'string' },
  since: { type: 'datetime' },
  place: { type: 'object' },
}

const readings = [
  {
    timestamp: '2026-01-31T10:00:00.123456Z',
    temperature: 21.5,
    count_: 9_007_199_254_740_991,
    isOpen: true,
    mode: 'a "quoted", text\r\nof two lines',
    since: '2026-01-01T00:00:00.000001Z',
    place: { x: [1, 2] },
    unknown: { deep: 'kept' },
  },
  { timestamp: '2026-01-31T10:00:01Z', temperature: 1000, mode: '' },
  { timestamp: '2026-01-31T10:00:02Z', isOpen: false, count_: -1 },
]

let streamId = ''

beforeAll(async () => {
  streamId = await service.api.createStream(schema)
  await service.api.withToken('POST', `/streams/${streamId}/data`, readings)
  await service.api.settled(streamId, readings.length)
})

describe('an export', () => {
  test('writes Parquet with typed columns that a fresh reader reads', async () => {
    const job = await exported(service.api, { streamIds: [streamId], format: 'parquet' })
    const [file] = job.files
    const answer = await download(service, job, file)
    const bytes = await answer.arrayBuffer()
    const { rows, types } = await parquetRows(bytes)

    expect(job).toMatchObject({ state: 'completed', progress: 1, rows: 3, failure: null })
    expect(types).toEqual({
      streamId: 'VARCHAR',
      timestamp: 'TIMESTAMP WITH TIME ZONE',
      count_: 'BIGINT',
      isOpen: 'BOOLEAN',
      mode: 'VARCHAR',
      place: 'VARCHAR',
      since: 'TIMESTAMP WITH TIME ZONE',
      temperature: 'DOUBLE',
      extra: 'VARCHAR',
      ':flag': 'VARCHAR',
    })
    expect(rows).toEqual([
      {
        streamId,
        timestamp: '2026-01-31 10:00:00.123456+00',
        count_: '9007199254740991',
        isOpen: true,
        mode: 'a "quoted", text\r\nof two lines',
        place: '{"x":[1,2]}',
        since: '2026-01-01 00:00:00.000001+00',
        temperature: 21.5,
        extra: '{"unknown":{"deep":"kept"}}',
        ':flag': null,
      },
      expect.objectContaining({
        temperature: 1000,
        mode: '',
        ':flag': 'temperature',
        isOpen: null,
      }),
      expect.objectContaining({ isOpen: false, count_: '-1', mode: null }),
    ])
  })

  test('tells size and digest of each file', async () => {
    const job = await exported(service.api, { streamIds: [streamId], format: 'parquet' })
    const [file] = job.files
    const answer = await download(service, job, file)
    const bytes = Buffer.from(await answer.arrayBuffer())

    expect(file?.bytes).toBe(bytes.length)
    expect(job.bytes).toBe(bytes.length)
    expect(file?.sha256).toBe(createHash('sha256').update(bytes).digest('hex'))
    expect(answer.headers.get('etag')).toBe(`"${file?.sha256}"`)
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${file?.name}"`)
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test.each([
    ['csv', 'text/csv'],
    ['ndjson', 'application/x-ndjson'],
  ])('writes %s as queries answer it, with the stream in front', async (format, type) => {
    const job = await exported(service.api, { streamIds: [streamId], format })
    const answer = await download(service, job, job.files[0])
    const asked = await fetch(`${service.process.http}/streams/${streamId}/data`, {
      headers: { authorization: `Bearer ${await service.api.token()}`, accept: type },
    })
    const text = await answer.text()

    expect(answer.headers.get('content-type')).toContain(type)
    expect(withoutStream(text)).toBe(await asked.text())
  })

  test('writes aggregated points', async () => {
    const body = {
      streamIds: [streamId],
      format: 'parquet',
      aggregation: 'minutely',
      fields: ['temperature:max', 'mode', 'count_:min'],
    }
    const job = await exported(service.api, body)
    const { rows, types } = await parquetRows(
      await (await download(service, job, job.files[0])).arrayBuffer(),
    )

    expect(rows).toEqual([
      {
        streamId,
        timestamp: '2026-01-31 10:00:00+00',
        'temperature:max': 1000,
        mode: '',
        'count_:min': -1,
        count: '3',
      },
    ])
    expect(types['count_:min']).toBe('DOUBLE')
  })

  test('takes only readings of the range, and only the fields that are asked for', async () => {
    const body = {
      streamIds: [streamId],
      format: 'csv',
      start: '2026-01-31T10:00:01Z',
      end: '2026-01-31T10:00:02Z',
      fields: ['temperature'],
    }
    const job = await exported(service.api, body)
    const text = await (await download(service, job, job.files[0])).text()

    expect(text).toBe(
      `streamId,timestamp,temperature,:flag\r\n${streamId},2026-01-31T10:00:01.000000Z,1000,temperature\r\n`,
    )
  })

  test('gives each stream a file of its own, an empty one as well', async () => {
    const person = await newPerson(service.api)
    const ids = [await streamOf(person), await streamOf(person)]
    const job = await exported(person, { streamIds: ids, format: 'ndjson' })

    expect(job.files.map((file) => [file.streamId, file.rows])).toEqual(
      [...ids].sort().map((id) => [id, 0]),
    )
  })

  test('unites the fields of all versions: numbers of either kind as doubles, others as texts', async () => {
    const id = await service.api.createStream({ a: { type: 'integer' }, b: { type: 'string' } })
    const first = { timestamp: '2026-01-01T00:00:00Z', a: 1, b: 'x' }
    await service.api.withToken('POST', `/streams/${id}/data`, first)
    const changed = { a: { type: 'number' }, b: { type: 'boolean' }, A2: { type: 'string' } }
    await service.api.withToken('PUT', `/streams/${id}`, { schema: changed })
    const second = { timestamp: '2026-01-02T00:00:00Z', a: 1.5, b: true, A2: 'new' }
    await service.api.withToken('POST', `/streams/${id}/data`, second)
    await service.api.settled(id, 2)
    const job = await exported(service.api, { streamIds: [id], format: 'parquet' })
    const { rows, types } = await parquetRows(
      await (await download(service, job, job.files[0])).arrayBuffer(),
    )

    expect(rows).toEqual([
      expect.objectContaining({ a: 1, b: 'x', A2: null }),
      expect.objectContaining({ a: 1.5, b: 'true', A2: 'new' }),
    ])
    expect(types).toMatchObject({ a: 'DOUBLE', b: 'VARCHAR' })
  })
})

function withoutStream(text: string): string {
  return text
    .replaceAll(`{"streamId":"${streamId}",`, '{')
    .replaceAll(`${streamId},`, '')
    .replace(/^streamId,/, '')
}
