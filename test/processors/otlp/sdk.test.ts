import { ValueType } from '@opentelemetry/api'
import { JsonMetricsSerializer, ProtobufMetricsSerializer } from '@opentelemetry/otlp-transformer'
import { resourceFromAttributes } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  AggregationType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics'
import { expect, test } from 'vitest'
import { otlpRecords } from '../../../processors/decode-otlp.ts'

/** What the SDK of OpenTelemetry measures, as its own serializers write it. */

async function measured(): Promise<ResourceMetrics> {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.DELTA)
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })
  const provider = new MeterProvider({
    resource: resourceFromAttributes({ 'host.name': 'b7', 'service.name': 'press', where: 'hall' }),
    readers: [reader],
    views: [
      {
        instrumentName: 'exponential',
        aggregation: { type: AggregationType.EXPONENTIAL_HISTOGRAM },
      },
      {
        instrumentName: 'explicit',
        aggregation: {
          type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM,
          options: { boundaries: [1, 10] },
        },
      },
    ],
  })
  const meter = provider.getMeter('line', '1.0.0')
  meter.createCounter('parts', { unit: '{part}', valueType: ValueType.INT }).add(3, { line: 'a' })
  meter.createUpDownCounter('queue').add(-1.5)
  meter.createObservableGauge('temperature', { unit: 'Cel' }).addCallback((result) => {
    result.observe(21.5, { sensor: 'inlet', where: 'pipe', tags: ['x', 'y'], ok: true, n: 7 })
  })
  const explicit = meter.createHistogram('explicit', { unit: 's' })
  const exponential = meter.createHistogram('exponential')
  for (const value of [0.5, 5, 50]) {
    explicit.record(value)
    exponential.record(value)
  }
  await reader.forceFlush()
  const [metrics] = exporter.getMetrics()
  await provider.shutdown()
  if (metrics === undefined) throw new Error('the SDK has measured nothing')
  return metrics
}

test('its metrics are records, whichever of its serializers wrote them', async () => {
  const metrics = await measured()
  const around = { 'host.name': 'b7', 'service.name': 'press', where: 'hall' }
  const endTimeUs = expect.any(Number) as number
  const delta = { temporality: 'delta', ...around }
  // The SDK begins with the metrics that it has views of.
  const expected = [
    {
      metric: 'explicit',
      unit: 's',
      count: 3,
      sum: 55.5,
      min: 0.5,
      max: 50,
      bucketCounts: [1, 1, 1],
      explicitBounds: [1, 10],
      ...delta,
    },
    {
      metric: 'exponential',
      count: 3,
      sum: 55.5,
      min: 0.5,
      max: 50,
      scale: expect.any(Number) as number,
      zeroCount: 0,
      positiveOffset: expect.any(Number) as number,
      positiveBucketCounts: expect.any(Array) as number[],
      ...delta,
    },
    { metric: 'parts', value: 3, unit: '{part}', line: 'a', ...delta },
    { metric: 'queue', value: -1.5, ...delta },
    {
      metric: 'temperature',
      value: 21.5,
      unit: 'Cel',
      ...around,
      sensor: 'inlet',
      where: 'pipe',
      tags: ['x', 'y'],
      ok: true,
      n: 7,
    },
  ].map((members) => ({ members, timeUs: endTimeUs }))

  const inProtobuf = ProtobufMetricsSerializer.serializeRequest(metrics)
  const inJson = JsonMetricsSerializer.serializeRequest(metrics)
  if (inProtobuf === undefined || inJson === undefined) throw new Error('nothing was serialized')
  const read = otlpRecords(inProtobuf, 'protobuf')

  expect(read).toEqual({ ok: true, records: expected })
  expect(otlpRecords(inJson, 'json')).toEqual(read)
  const [second, nanos] = metrics.scopeMetrics[0]?.metrics[0]?.dataPoints[0]?.endTime ?? [0, 0]
  expect(read).toMatchObject({
    records: [{ timeUs: second * 1e6 + Math.floor(nanos / 1_000) }, {}, {}, {}, {}],
  })
})
