import { type ExportResult, ExportResultCode } from '@opentelemetry/core'
import { OTLPMetricExporter as JsonExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics'
import { describe, expect, test } from 'vitest'
import {
  createFleet,
  metricFields,
  type ProtocolFleet,
  readingsByDevice,
  registeredDevice,
  streamsByDevice,
} from '../support/protocol-fleet.ts'
import { runningService } from '../support/running-service.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

/** The SDK of OpenTelemetry exports into a fleet. */

const service = runningService()

const exporters = { proto: ProtobufExporter, http: JsonExporter }
type Kind = keyof typeof exporters

const basic = `Basic ${Buffer.from(`${adminKey}:${adminSecret}`).toString('base64')}`

let made = 0

async function fleetOfServices(schema: object = metricFields): Promise<ProtocolFleet> {
  const name = `services ${++made}`
  return await createFleet(service.api, { name, deviceField: 'service.name', schema })
}

function meterOf(kind: Kind, url: string, authorization = basic) {
  const exporter: PushMetricExporter = new exporters[kind]({
    url,
    headers: { authorization },
    timeoutMillis: 20_000,
  })
  // It exports when it is asked to, and never by itself.
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: 3_600_000,
    exportTimeoutMillis: 30_000,
  })
  const resource = resourceFromAttributes({ 'service.name': `shop ${kind}`, 'host.cores': 4 })
  const provider = new MeterProvider({ resource, readers: [reader] })
  return {
    meter: provider.getMeter('tests'),
    /** What became of all that was measured, with the repetitions of the exporter. */
    async exported(): Promise<ExportResult> {
      const { resourceMetrics } = await reader.collect()
      return await new Promise((resolve) => exporter.export(resourceMetrics, resolve))
    },
  }
}

function urlOf({ fleetId }: ProtocolFleet): string {
  return `${service.process.http}/v1/metrics?fleet=${fleetId}`
}

/** An error of the exporter: the status that it was answered, and the body. */
interface RefusedExport {
  readonly code?: number
  readonly data?: string
}

/** The text of a refusal, which is a google.rpc.Status in Protobuf or JSON. */
function wordsOf({ data = '' }: RefusedExport): string {
  return Buffer.from(data).toString()
}

describe.each(['proto', 'http'] as const)('the exporter %s', (kind) => {
  test('sends again what a device with a rate has sent too early', async () => {
    const fleet = await fleetOfServices()
    const device = await registeredDevice(service.api, fleet, `shop ${kind}`)
    const rateLimit = { readingsPerSecond: 1, burst: 1 }
    await service.api.withToken('PUT', `/devices/${device.id}`, { rateLimit })
    const key = Buffer.from(`${device.apiKey}:${device.apiSecret}`).toString('base64')
    // The key is that of the device, and without a name of a fleet: it has one.
    const metrics = meterOf(kind, `${service.process.http}/v1/metrics`, `Basic ${key}`)
    const gauge = metrics.meter.createGauge('queue')
    for (const value of [1, 2, 3]) {
      gauge.record(value)
      expect(await metrics.exported()).toEqual({ code: ExportResultCode.SUCCESS })
    }

    const rows = (await readingsByDevice(service.api, fleet)).get(`shop ${kind}`) ?? []
    expect(rows.map(({ value }) => value)).toEqual([1, 2, 3])
  })

  test('brings each data point into the stream of its service', async () => {
    const fleet = await fleetOfServices({
      ...metricFields,
      sum: { type: 'number' },
      points: { type: 'integer', from: 'count' },
      unit: { type: 'string' },
    })
    const metrics = meterOf(kind, urlOf(fleet))
    const counter = metrics.meter.createCounter('orders', { unit: '{order}' })
    counter.add(3, { country: 'de' })
    counter.add(4, { country: 'fr' })
    metrics.meter.createGauge('queue').record(7.5)
    const histogram = metrics.meter.createHistogram('latency', { unit: 'ms' })
    histogram.record(10)
    histogram.record(20)
    expect(await metrics.exported()).toEqual({ code: ExportResultCode.SUCCESS })

    const rows = (await readingsByDevice(service.api, fleet)).get(`shop ${kind}`) ?? []
    const orders = rows.filter(({ metric }) => metric === 'orders')
    const byCountry = orders.map(({ extra, value }) => {
      const { country } = extra as { country: string }
      return [country, value] as const
    })
    expect(new Map(byCountry)).toEqual(
      new Map([
        ['de', 3],
        ['fr', 4],
      ]),
    )
    expect(rows.find(({ metric }) => metric === 'queue')).toMatchObject({
      value: 7.5,
      extra: { 'host.cores': 4, 'service.name': `shop ${kind}` },
    })
    expect(rows.find(({ metric }) => metric === 'latency')).toMatchObject({
      points: 2,
      sum: 30,
      unit: 'ms',
    })
  })

  test('goes on after points that the schema refuses, and after wrong settings', async () => {
    const fleet = await fleetOfServices({ ...metricFields, value: { type: 'integer' } })
    const metrics = meterOf(kind, urlOf(fleet))
    metrics.meter.createGauge('whole').record(7)
    metrics.meter.createGauge('part').record(7.5)
    expect(await metrics.exported()).toEqual({ code: ExportResultCode.SUCCESS })
    const problems: string[] = []
    for (const [url, authorization] of [
      [`${service.process.http}/v1/metrics`, basic],
      [`${service.process.http}/v1/metrics?fleet=unknown`, basic],
      [urlOf(fleet), `Basic ${Buffer.from(`${adminKey}:wrong`).toString('base64')}`],
    ] as const) {
      const wrong = meterOf(kind, url, authorization)
      wrong.meter.createGauge('lost').record(1)
      const { code, error } = await wrong.exported()
      expect(code).toBe(ExportResultCode.FAILED)
      problems.push(`${(error as RefusedExport).code} ${wordsOf(error as RefusedExport)}`)
    }
    expect(problems).toEqual([
      expect.stringMatching(/^404 .*names no fleet/s),
      expect.stringMatching(/^404 .*no fleet unknown/s),
      expect.stringMatching(/^401 .*not valid/s),
    ])

    const rows = (await readingsByDevice(service.api, fleet)).get(`shop ${kind}`) ?? []
    expect(rows.map(({ metric, value }) => [metric, value])).toEqual([['whole', 7]])
    const [streamId = ''] = (await streamsByDevice(service.api, fleet)).values()
    expect((await service.api.status(streamId)).counters).toMatchObject({
      stored: 1,
      quarantined: 1,
    })
  })
})
