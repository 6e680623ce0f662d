import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { OTLPMetricExporter as JsonExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPMetricExporter as ProtobufExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { describe, expect, test } from 'vitest'
import {
  createFleet,
  metricFields,
  type ProtocolFleet,
  readingsByDevice,
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
  const exporter = new exporters[kind]({ url, headers: { authorization }, timeoutMillis: 20_000 })
  // It exports when it is asked to, and never by itself.
  const reader = new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: 3_600_000,
    exportTimeoutMillis: 30_000,
  })
  const resource = resourceFromAttributes({ 'service.name': `shop ${kind}`, 'host.cores': 4 })
  const provider = new MeterProvider({ resource, readers: [reader] })
  return { meter: provider.getMeter('tests'), provider }
}

function urlOf({ fleetId }: ProtocolFleet): string {
  return `${service.process.http}/v1/metrics?fleet=${fleetId}`
}

describe.each(['proto', 'http'] as const)('the exporter %s', (kind) => {
  test('brings each data point into the stream of its service', async () => {
    const fleet = await fleetOfServices({
      ...metricFields,
      sum: { type: 'number' },
      points: { type: 'integer', from: 'count' },
      unit: { type: 'string' },
    })
    const { meter, provider } = meterOf(kind, urlOf(fleet))
    const counter = meter.createCounter('orders', { unit: '{order}' })
    counter.add(3, { country: 'de' })
    counter.add(4, { country: 'fr' })
    meter.createGauge('queue').record(7.5)
    const histogram = meter.createHistogram('latency', { unit: 'ms' })
    histogram.record(10)
    histogram.record(20)
    await provider.forceFlush()
    await provider.shutdown()

    const rows = (await readingsByDevice(service.api, fleet)).get(`shop ${kind}`) ?? []
    const orders = rows.filter(({ metric }) => metric === 'orders')
    expect(new Map(orders.map(({ country, value }) => [country, value]))).toEqual(
      new Map([
        ['de', 3],
        ['fr', 4],
      ]),
    )
    expect(rows.find(({ metric }) => metric === 'queue')).toMatchObject({
      value: 7.5,
      'host.cores': 4,
    })
    expect(rows.find(({ metric }) => metric === 'latency')).toMatchObject({
      points: 2,
      sum: 30,
      unit: 'ms',
    })
  })
})
