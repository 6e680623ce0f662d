import { describe, expect, test } from 'vitest'
import { imported, sendImport } from '../support/imports.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()

const schema = {
  temperature: { type: 'number' },
  steps: { type: 'integer' },
  isOpen: { type: 'boolean' },
  mode: { type: 'string' },
  since: { type: 'datetime' },
  place: { type: 'object' },
}

const csv = [
  'timestamp,temperature,steps,isOpen,mode,since,place,other',
  '2026-01-31T10:00:00.123456Z,21.5,3,true,"a ""b"",',
  'two lines",2026-01-01T00:00:00Z,"{""x"":1}",unknown',
  '2026-01-31T10:00:01Z,,,,"",,,',
  '',
].join('\r\n')

const readings = [
  {
    timestamp: '2026-01-31T10:00:00.123456Z',
    temperature: 21.5,
    steps: 3,
    isOpen: true,
    mode: 'a "b",\r\ntwo lines',
    since: '2026-01-01T00:00:00.000000Z',
    place: { x: 1 },
    extra: { other: 'unknown' },
  },
  { timestamp: '2026-01-31T10:00:01.000000Z', mode: '' },
]

describe('an import', () => {
  test('of CSV stores what each row says', async () => {
    const id = await service.api.createStream(schema)
    const job = await imported(service, id, { format: 'csv', content: csv })

    expect(job).toMatchObject({ state: 'completed', rows: 2, accepted: 2, refused: 0, progress: 1 })
    expect(await service.api.readAll(id)).toEqual(readings)
  })

  test('of NDJSON stores what each line says', async () => {
    const id = await service.api.createStream(schema)
    const lines = readings.map((reading) => `${JSON.stringify(reading)}\n`).join('')
    await imported(service, id, { format: 'ndjson', content: lines })

    expect(await service.api.readAll(id)).toEqual(readings)
  })

  test('of the same file again stores nothing, and counts duplicates', async () => {
    const id = await service.api.createStream(schema)
    await imported(service, id, { format: 'csv', content: csv })
    const again = await imported(service, id, { format: 'csv', content: csv })

    expect(again).toMatchObject({ accepted: 2, duplicates: 2 })
    expect(await service.api.readAll(id)).toEqual(readings)
  })

  test('adds up with what was sent, and leaves no trace in the latency', async () => {
    const id = await service.api.createStream(schema)
    await imported(service, id, { format: 'csv', content: csv })
    const status = await service.api.status(id)

    expect(status.counters).toMatchObject({ received: 2, stored: 2, pending: 0 })
    expect(status['health']).toMatchObject({ avgLatency: 0 })
  })

  test('refuses rows one by one, says why, and keeps them in the quarantine', async () => {
    const id = await service.api.createStream({ temperature: { type: 'number' } })
    const content = [
      '{"timestamp":"2026-01-31T10:00:00Z","temperature":1}',
      '{"temperature":2}',
      '{"timestamp":"yesterday","temperature":3}',
      '{"timestamp":"2026-01-31T10:00:03Z","temperature":"hot"}',
      'no json',
      '[{"timestamp":"2026-01-31T10:00:05Z"}]',
      '{"timestamp":"2999-01-31T10:00:06Z","temperature":6}',
      '{"timestamp":"2026-01-31T10:00:07Z","temperature":7}',
    ].join('\n')
    const job = await imported(service, id, { format: 'ndjson', content })
    const { body } = await service.api.withToken<{ entries: readonly { source: string }[] }>(
      'GET',
      `/streams/${id}/quarantine?limit=100`,
    )

    expect(job).toMatchObject({ state: 'completed', rows: 8, accepted: 2, refused: 6 })
    expect(job.refusals.map(({ row, error }) => [row, error])).toEqual([
      [2, 'timestamp_invalid'],
      [3, 'timestamp_invalid'],
      [4, 'schema_mismatch'],
      [5, 'malformed'],
      [6, 'malformed'],
      [7, 'timestamp_in_future'],
    ])
    expect(body.entries.map(({ source }) => source).sort()).toEqual(
      [2, 3, 4, 5, 6, 7].map((row) => `import ${job.importId} row ${row}`),
    )
  })

  test('takes the time under the name and in the form of the stream, or as exports write it', async () => {
    const source = { timestampField: 'at', timestampFormat: 'epoch_ms' }
    const id = await service.api.createStream({ temperature: { type: 'number' } }, { source })
    const own = 'at,temperature\r\n1769853600000,1\r\n'
    const exported =
      'streamId,timestamp,temperature,:flag\r\nx,2026-01-31T10:00:01.5Z,2,temperature\r\n'
    await imported(service, id, { format: 'csv', content: own })
    await imported(service, id, { format: 'csv', content: exported })

    expect(await service.api.readAll(id)).toEqual([
      { timestamp: '2026-01-31T10:00:00.000000Z', temperature: 1 },
      { timestamp: '2026-01-31T10:00:01.500000Z', temperature: 2 },
    ])
  })

  test('judges rows by the transform of the stream, like readings that are sent', async () => {
    const processing = {
      transform: [
        { scale: { field: 'temperature', factor: 2 } },
        { filter: { expression: 'temperature > 2.0' } },
      ],
    }
    const id = await service.api.createStream({ temperature: { type: 'number' } }, { processing })
    const content = 'timestamp,temperature\n2026-01-31T10:00:00Z,1\n2026-01-31T10:00:01Z,2\n'
    const job = await imported(service, id, { format: 'csv', content })

    expect(job.accepted).toBe(2)
    expect(await service.api.readAll(id)).toEqual([
      { timestamp: '2026-01-31T10:00:01.000000Z', temperature: 4 },
    ])
    expect(await service.api.settled(id, 2)).toMatchObject({ stored: 1, filtered: 1 })
  })

  test('is done once under an Idempotency-Key, whose file has to be the same', async () => {
    const id = await service.api.createStream(schema)
    const headers = { 'idempotency-key': 'one' }
    const file = { format: 'csv', content: csv } as const
    const first = await sendImport(service, id, file, headers)
    const again = await sendImport(service, id, file, headers)
    const other = await sendImport(service, id, { ...file, content: `${csv}x` }, headers)

    expect([first.status, again.status, other.status]).toEqual([202, 202, 422])
    expect(again.body.importId).toBe(first.body.importId)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
  })
})

describe('a file is refused', () => {
  test.each([['that is empty', '', 400, 'malformed_body']])(
    '%s',
    async (_, content, status, error) => {
      const id = await service.api.createStream(schema)
      const answer = await sendImport(service, id, { format: 'csv', content })

      expect([answer.status, answer.body['error']]).toEqual([status, error])
    },
  )

  test('for a stream that is paused, and for one that is not there', async () => {
    const id = await service.api.createStream(schema)
    await service.api.withToken('POST', `/streams/${id}/pause`)
    const paused = await sendImport(service, id, { format: 'csv', content: csv })
    const unknown = await sendImport(service, crypto.randomUUID(), { format: 'csv', content: csv })

    expect([paused.status, unknown.status]).toEqual([409, 404])
  })

  test('of another content type', async () => {
    const id = await service.api.createStream(schema)
    const answer = await service.api.withToken('POST', `/streams/${id}/import`, { any: 1 })

    expect(answer.status).toBe(415)
  })
})
