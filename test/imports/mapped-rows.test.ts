import { expect, test } from 'vitest'
import { download, exported } from '../support/exports.ts'
import { imported, importTypes } from '../support/imports.ts'
import { runningService } from '../support/running-service.ts'

/** Rows of files in streams that find their readings in messages: the columns are the fields already. */

const service = runningService()

const schema = {
  device: { type: 'string', from: '$parent.device' },
  level: { type: 'number', from: 'value.level' },
}
const source = { items: 'rows' }
const sent = {
  device: 'b7',
  rows: [
    { timestamp: '2026-01-01T00:00:00Z', value: { level: 1 } },
    { timestamp: '2026-01-01T00:00:01Z', value: { level: 2 }, note: 'warm' },
  ],
}

test.each(Object.keys(importTypes) as (keyof typeof importTypes)[])(
  'readings out of %s are those that came in messages',
  async (format) => {
    const streamId = await service.api.createStream(schema, { source })
    await service.api.withToken('POST', `/streams/${streamId}/data`, sent)
    await service.api.settled(streamId, 2)
    const before = await service.api.readAll(streamId)
    const job = await exported(service.api, { streamIds: [streamId], format })
    const answer = await download(service, job, job.files[0])
    const file = { format, content: new Uint8Array(await answer.arrayBuffer()) }

    expect(await imported(service, streamId, file)).toMatchObject({ accepted: 2, duplicates: 2 })
    const other = await service.api.createStream(schema, { source })
    expect(await imported(service, other, file)).toMatchObject({ accepted: 2, refused: 0 })
    expect(await service.api.readAll(other)).toEqual(before)
  },
)

test('a row that was refused is a row when it is judged again', async () => {
  const narrow = { ...schema, level: { ...schema.level, range: [0, 1] } }
  const processing = { validation: 'strict' }
  const streamId = await service.api.createStream(narrow, { source, processing })
  const content = [
    '{"timestamp":"2026-01-01T00:00:00Z","device":"b7","level":1}',
    '{"timestamp":"2026-01-01T00:00:01Z","device":"b7","level":2}',
  ].join('\n')
  const file = { format: 'ndjson', content } as const
  expect(await imported(service, streamId, file)).toMatchObject({ accepted: 1, refused: 1 })
  await service.api.withToken('PUT', `/streams/${streamId}`, { schema })
  await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`, {})
  expect(await service.api.settled(streamId)).toMatchObject({ stored: 2, quarantined: 0 })
  expect(await service.api.readAll(streamId)).toMatchObject([
    { timestamp: '2026-01-01T00:00:00.000000Z', device: 'b7', level: 1 },
    { timestamp: '2026-01-01T00:00:01.000000Z', device: 'b7', level: 2 },
  ])
  expect(await imported(service, streamId, file)).toMatchObject({ accepted: 2, duplicates: 2 })
})

test('the time of a row is in its own column, whatever path the time of a message has', async () => {
  const streamId = await service.api.createStream(
    { level: { type: 'number', from: 'params.level' } },
    { source: { timestampField: 'params.ts', timestampFormat: 'epoch_s' } },
  )
  const message = { params: { ts: 1_767_225_600, level: 1 } }
  await service.api.withToken('POST', `/streams/${streamId}/data`, message)
  await service.api.settled(streamId, 1)
  const content = '{"timestamp":"2026-01-01T00:00:00Z","level":1}\n{"level":1}\n'
  expect(await imported(service, streamId, { format: 'ndjson', content })).toMatchObject({
    accepted: 1,
    duplicates: 1,
    refused: 1,
  })
})

test('a preview takes its messages apart as the stream does', async () => {
  const processing = { transform: [{ scale: { field: 'level', factor: 2 } }] }
  const streamId = await service.api.createStream(schema, { source, processing })
  const readings = [sent, { device: 'b8' }]
  const path = `/streams/${streamId}/transform/preview`
  expect(await service.api.withToken('POST', path, { readings })).toMatchObject({
    status: 200,
    body: {
      results: [
        { status: 'stored', steps: [{ device: 'b7', level: 2 }] },
        { status: 'stored', steps: [{ device: 'b7', level: 4 }] },
        { status: 'refused', reason: 'mapping_failed' },
      ],
    },
  })
  const rows = Array.from({ length: 1_001 }, () => ({ value: { level: 1 } }))
  expect(await service.api.withToken('POST', path, { readings: [{ rows }] })).toMatchObject({
    status: 400,
    body: { details: [{ path: 'readings' }] },
  })
})
