import { gzipSync } from 'node:zlib'
import { type Attributes, ValueType } from '@opentelemetry/api'
import { OTLPMetricExporter as JsonExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics'
import { connectAsync } from 'mqtt'
import { describe, expect, test } from 'vitest'
import { jsonOf, protobufOf, requestOf } from '../support/otlp-messages.ts'
import { bodiesTo } from '../support/pushed-bodies.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

/** Metrics of OpenTelemetry that are sent to a stream whose format they are. */

const service = runningService()

const { push } = bodiesTo(service)

const schema = {
  metric: { type: 'string' },
  value: { type: 'number' },
  host: { type: 'string', from: "['host.name']" },
}

const otlp = { source: { format: 'otlp' } }

/** Measures once, and sends it as an application with the SDK does. */
async function measureOnce(exporter: PushMetricExporter, attributes: Attributes): Promise<void> {
  const provider = new MeterProvider({
    resource: resourceFromAttributes({ 'host.name': 'b7' }),
    readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })],
  })
  const meter = provider.getMeter('line')
  meter.createCounter('parts', { valueType: ValueType.INT }).add(3, attributes)
  meter.createGauge('temperature').record(21.5, attributes)
  await provider.shutdown()
}

describe.each([
  ['Protobuf', ProtobufExporter, 'none'],
  ['JSON', JsonExporter, 'none'],
  ['Protobuf, gzip', ProtobufExporter, 'gzip'],
] as const)('the exporter of the SDK (%s)', (_, Exporter, compression) => {
  test('has its data points stored', async () => {
    const streamId = await service.api.createStream(schema, otlp)
    const exporter = new Exporter({
      url: `${service.process.http}/streams/${streamId}/data`,
      headers: { authorization: `Bearer ${await service.api.token()}` },
      compression: compression as never,
    })

    await measureOnce(exporter, { line: 'a' })

    expect(await service.api.settled(streamId, 2)).toMatchObject({ stored: 2, quarantined: 0 })
    const readings = await service.api.readAll(streamId)
    expect(Object.fromEntries(readings.map(({ metric, value }) => [metric, value]))).toEqual({
      parts: 3,
      temperature: 21.5,
    })
    expect(readings).toMatchObject([
      { host: 'b7', extra: { line: 'a' } },
      { host: 'b7', extra: { line: 'a' } },
    ])
  })
})

const gauge = (points: readonly object[]) =>
  requestOf({ name: 'load', gauge: { dataPoints: points } })

test('over MQTT a payload is in JSON or in Protobuf, by its first byte', async () => {
  const streamId = await service.api.createStream(schema, otlp)
  const mqtt = await connectAsync({
    host: '127.0.0.1',
    port: service.process.mqttPort,
    username: adminKey,
    password: adminSecret,
    reconnectPeriod: 0,
  })
  const timeUnixNano = '1767225600000000000'
  for (const payload of [
    jsonOf(gauge([{ timeUnixNano, asDouble: 1 }])),
    protobufOf(gauge([{ timeUnixNano, asDouble: 2 }])),
    protobufOf(gauge([{ timeUnixNano, asDouble: 1 }])),
    Buffer.from('hello'),
  ]) {
    await mqtt.publishAsync(`streams/${streamId}/data`, Buffer.from(payload), { qos: 1 })
  }
  await mqtt.endAsync()

  expect(await service.api.settled(streamId, 4)).toMatchObject({
    stored: 2,
    duplicates: 1,
    quarantined: 1,
  })
})

test('what is refused is kept, and stored once the definition fits', async () => {
  const streamId = await service.api.createStream(schema, otlp)
  const timeUnixNano = '1767225600000000000'
  const twice = ['x', 'y'].map((stringValue) => ({ key: 'a', value: { stringValue } }))
  const request = gauge([
    { timeUnixNano, asDouble: 'NaN' },
    { timeUnixNano, asDouble: 1, attributes: twice },
    { timeUnixNano, asDouble: 2 },
  ])

  const { status, body } = await push(
    streamId,
    { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' },
    gzipSync(protobufOf(request)),
  )

  expect({ status, body }).toMatchObject({
    status: 202,
    body: {
      accepted: 1,
      rejected: [
        { index: 0, error: 'malformed', message: expect.stringContaining('NaN') as string },
        { index: 1, error: 'malformed', message: 'the attribute a comes twice' },
      ],
    },
  })
  expect(await service.api.settled(streamId, 3)).toMatchObject({ stored: 1, quarantined: 2 })

  await service.api.withToken('PUT', `/streams/${streamId}`, {
    schema: { ...schema, value: { type: 'number', missing: ['nan'] } },
  })
  const again = await service.api.withToken('POST', `/streams/${streamId}/quarantine/redrive`)

  expect(again.body).toMatchObject({ redriven: 1, remaining: 1 })
  expect(await service.api.settled(streamId, 3)).toMatchObject({ stored: 2, quarantined: 1 })
  expect((await service.api.readAll(streamId)).map(({ value }) => value)).toEqual(
    expect.arrayContaining([2, undefined]),
  )
})

test('a stream of another format takes JSON and Protobuf as it did', async () => {
  const streamId = await service.api.createStream(schema)
  const json = jsonOf(gauge([{ asDouble: 1 }]))

  const taken = await push(streamId, { 'content-type': 'application/json' }, json)
  const refused = await push(
    streamId,
    { 'content-type': 'application/x-protobuf' },
    protobufOf(gauge([{ asDouble: 1 }])),
  )

  expect(taken.status).toBe(202)
  expect(refused).toMatchObject({
    status: 400,
    body: { message: 'source.protobuf names no message' },
  })
})

test('another content type is that of its format, whatever the format of the stream is', async () => {
  const streamId = await service.api.createStream(schema, otlp)
  const line = '{"metric": "load", "value": 1}\n'
  const { status } = await push(streamId, { 'content-type': 'application/x-ndjson' }, line)
  expect(status).toBe(202)
  expect(await service.api.settled(streamId, 1)).toMatchObject({ stored: 1 })
})
