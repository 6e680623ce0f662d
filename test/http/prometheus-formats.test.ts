import { gzipSync } from 'node:zlib'
import { Gauge, Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import {
  goClientRequest,
  metadataRequest,
  prometheusRequest,
} from '../support/prometheus/captured-requests.ts'
import { snapped, writeRequest, writeRequest2 } from '../support/prometheus/remote-write-bodies.ts'
import { bodiesTo } from '../support/pushed-bodies.ts'
import { runningService } from '../support/running-service.ts'

/** What is exposed to Prometheus, and what it writes to others, as formats of readings. */

const service = runningService()

const { push, post } = bodiesTo(service)

const schema = {
  metric: { type: 'string' },
  room: { type: 'string' },
  value: { type: 'number', missing: ['nan', 'inf'] },
}

const text = { 'content-type': 'text/plain; version=0.0.4' }

/** The headers of Prometheus for remote write 1.0. */
const write1 = {
  'content-type': 'application/x-protobuf',
  'content-encoding': 'snappy',
  'x-prometheus-remote-write-version': '0.1.0',
}

const write2 = {
  ...write1,
  'content-type': 'application/x-protobuf;proto=io.prometheus.write.v2.Request',
  'x-prometheus-remote-write-version': '2.0.0',
}

const timeMs = Date.UTC(2026, 0, 1)
const labels = [
  ['__name__', 'room_celsius'],
  ['room', 'kitchen'],
] as const
const series = [{ labels, samples: [{ value: 21.5, timeMs }] }]
const line = `room_celsius{room="kitchen"} 21.5 ${timeMs}\n`

test('a sample is one reading, in every format that it may come in', async () => {
  const streamId = await service.api.createStream(schema)
  const openMetrics = { 'content-type': 'application/openmetrics-text; version=1.0.0' }
  const named = {
    ...write1,
    'content-type': 'application/x-protobuf;proto=prometheus.WriteRequest',
  }
  const json = { metric: 'room_celsius', room: 'kitchen', value: 21.5 }

  const bodies = [
    [text, line],
    [{ 'content-type': 'text/plain;version=1.0.0;escaping=allow-utf-8' }, line],
    [openMetrics, `room_celsius{room="kitchen"} 21.5 ${timeMs / 1_000}\n# EOF\n`],
    [{ ...text, 'content-encoding': 'gzip' }, gzipSync(line)],
    [write1, snapped(writeRequest(series))],
    [named, snapped(writeRequest(series))],
    [write2, snapped(writeRequest2(series))],
    [
      { 'content-type': 'application/json' },
      JSON.stringify([{ ...json, timestamp: '2026-01-01T00:00:00Z' }]),
    ],
  ] as const
  for (const [headers, body] of bodies) {
    expect(await push(streamId, headers, body)).toMatchObject({
      status: 202,
      body: { accepted: 1, rejected: [] },
    })
  }

  const counters = await service.api.settled(streamId, bodies.length)
  expect(counters).toMatchObject({ stored: 1, duplicates: bodies.length - 1, quarantined: 0 })
  expect(await service.api.readAll(streamId)).toMatchObject([
    { timestamp: '2026-01-01T00:00:00.000000Z', ...json },
  ])
})

test('what prom-client exposes is stored with the time of its receipt', async () => {
  const streamId = await service.api.createStream(schema)
  const registry = new Registry()
  const gauge = new Gauge({ name: 'a', help: 'b', labelNames: ['room'], registers: [registry] })
  gauge.set({ room: 'the "big" one' }, 3)

  const pushed = await push(
    streamId,
    { 'content-type': registry.contentType },
    await registry.metrics(),
  )

  expect(pushed).toMatchObject({ status: 202, body: { accepted: 1 } })
  await service.api.settled(streamId, 1)
  expect(await service.api.readAll(streamId)).toMatchObject([
    { metric: 'a', room: 'the "big" one' },
  ])
})

describe('requests of Prometheus', () => {
  test('are stored, with samples that have no number if the schema says what they mean', async () => {
    const streamId = await service.api.createStream(schema)

    expect(await push(streamId, write1, prometheusRequest)).toMatchObject({
      status: 202,
      body: { accepted: 8, rejected: [] },
    })
    expect(await push(streamId, write1, metadataRequest)).toMatchObject({
      status: 202,
      body: { accepted: 0, rejected: [] },
    })
    expect(await push(streamId, write2, goClientRequest)).toMatchObject({
      status: 202,
      body: { accepted: 3, rejected: [] },
    })
    expect(await service.api.settled(streamId, 11)).toMatchObject({ stored: 11 })
  })

  test('are read by the format of the stream where their headers do not name it', async () => {
    const source = { format: 'prometheus-remote-write' }
    const streamId = await service.api.createStream(schema, { source })
    const headers = { 'content-type': 'application/x-protobuf' }

    expect(await push(streamId, headers, snapped(writeRequest(series)))).toMatchObject({
      status: 202,
    })
    const exposed = await service.api.createStream(schema, { source: { format: 'prometheus' } })
    expect(await push(exposed, { 'content-type': 'text/plain' }, line)).toMatchObject({
      status: 202,
    })
  })

  test.each([
    ['cut off', snapped(writeRequest(series)).subarray(0, 20), 'not valid Snappy'],
    ['not in Snappy', writeRequest(series), 'not valid Snappy'],
    ['a bomb', snapped(Buffer.alloc(20_000_000)), 'decompressed it has 20000000 bytes'],
    ['long, as they say', Buffer.of(0xff, 0xff, 0xff, 0x07, 0), 'cannot be'],
    ['not Protobuf', snapped(Buffer.from('hello')), 'not valid Protobuf'],
  ])('are 400 where they are %s', async (_, body, problem) => {
    const streamId = await service.api.createStream(schema)
    expect(await push(streamId, write1, body)).toMatchObject({
      status: 400,
      body: { error: 'malformed_body', message: expect.stringContaining(problem) as string },
    })
  })
})

test.each([
  ['application/json', '{}'],
  ['text/plain; version=0.0.4', line],
])('Snappy is 415 with %s', async (type, body) => {
  const streamId = await service.api.createStream(schema)
  const headers = { 'content-type': type, 'content-encoding': 'snappy' }

  const pushed = await push(streamId, headers, snapped(Buffer.from(body)))
  const judged = await post(`/streams/${streamId}/validate`, headers, snapped(Buffer.from(body)))

  for (const answer of [pushed, judged]) {
    expect(answer).toMatchObject({ status: 415, body: { error: 'unsupported_media_type' } })
  }
  expect(await post('/data', write1, snapped(writeRequest(series)))).toMatchObject({ status: 415 })
})

test('POST /streams/{id}/validate says what would become of samples', async () => {
  const streamId = await service.api.createStream(schema)
  const path = `/streams/${streamId}/validate`

  expect(await post(path, write1, snapped(writeRequest(series)))).toMatchObject({
    status: 200,
    body: { accepted: 1, rejected: 0, readings: [{ values: { value: 21.5 } }] },
  })
})

interface Kept {
  readonly message: string
  readonly payload: string
}

test('what is refused is kept alone, and judged again by the newest definition', async () => {
  const { value: _, ...others } = schema
  const streamId = await service.api.createStream({ ...others, value: { type: 'number' } })
  const bad = { labels: [...labels, labels[1]], samples: [{ value: 1, timeMs }] }

  const { body } = await push(
    streamId,
    text,
    `${line}room_celsius NaN ${timeMs}\nroom_celsius one\n`,
  )
  expect(body).toMatchObject({
    accepted: 1,
    rejected: [
      { index: 1, error: 'malformed' },
      { index: 2, error: 'malformed', message: 'line 3: the value one is not a number' },
    ],
  })
  expect(
    (await push(streamId, write1, snapped(writeRequest([...series, bad])))).body,
  ).toMatchObject({
    accepted: 1,
    rejected: [{ index: 1, error: 'malformed', message: 'it has the label room twice' }],
  })
  await service.api.settled(streamId, 5)
  const kept = await service.api.withToken<{ entries: readonly Kept[] }>(
    'GET',
    `/streams/${streamId}/quarantine`,
  )
  expect(kept.body.entries.map(({ payload }) => payload).slice(0, 2)).toEqual([
    '{"metric":"room_celsius","value":NaN,"timestamp":"2026-01-01T00:00:00.000000Z"}',
    'room_celsius one',
  ])

  await service.api.withToken('PUT', `/streams/${streamId}`, { schema })
  const again = await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`)

  expect(again.body).toMatchObject({ redriven: 1, remaining: 2 })
  expect(await service.api.settled(streamId, 5)).toMatchObject({ stored: 2, quarantined: 2 })
})

test('a mapping makes one reading of the samples of one time', async () => {
  const source = {
    format: 'prometheus',
    items: { path: '$', as: 'pivot', name: 'metric', value: 'value', time: 'timestamp' },
  }
  const wide = { room_celsius: { type: 'number' }, room_humidity: { type: 'number' } }
  const streamId = await service.api.createStream(wide, { source })

  const samples = `room_celsius 21.5 ${timeMs}\nroom_humidity 40 ${timeMs}\nroom_celsius 22 ${timeMs + 1}\n`
  expect(await push(streamId, text, samples)).toMatchObject({ status: 202, body: { accepted: 2 } })
  await service.api.settled(streamId, 2)
  expect(await service.api.readAll(streamId)).toMatchObject([
    { room_celsius: 21.5, room_humidity: 40 },
    { room_celsius: 22 },
  ])
  // What a mapping refuses as a whole is kept as it was sent.
  await push(streamId, text, `${samples}room_celsius x\n`)
  await service.api.settled(streamId, 3)
  const { body } = await service.api.withToken<{ entries: readonly Kept[] }>(
    'GET',
    `/streams/${streamId}/quarantine`,
  )
  expect(body.entries).toMatchObject([{ payload: `${samples}room_celsius x\n` }])
})
