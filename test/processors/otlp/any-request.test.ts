import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { otlpRecords } from '../../../processors/decode-otlp.ts'
import { jsonOf, protobufOf } from '../../support/otlp-messages.ts'
import { recordsInBoth } from '../../support/otlp-points.ts'

const word = fc.string({ unit: 'grapheme', maxLength: 8 }).filter((one) => !one.includes('\0'))
const double = fc.double().map((value) => (Number.isFinite(value) ? value + 0 : String(value)))
const integer = fc.maxSafeInteger().map(String)
const count = fc.maxSafeNat().map(String)

const anyValue = fc.letrec<{ value: object }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.record({ stringValue: word }),
    fc.record({ boolValue: fc.boolean() }),
    fc.record({ intValue: integer }),
    fc.record({ doubleValue: double }),
    fc.record({
      bytesValue: fc
        .uint8Array({ maxLength: 9 })
        .map((bytes) => Buffer.from(bytes).toString('base64')),
    }),
    fc.constant({}),
    fc.record({ arrayValue: fc.record({ values: fc.array(tie('value'), { maxLength: 3 }) }) }),
    fc.record({
      kvlistValue: fc.record({
        values: fc.uniqueArray(fc.record({ key: word, value: tie('value') }), {
          maxLength: 3,
          selector: ({ key }) => key,
        }),
      }),
    }),
  ),
})).value

const attributes = fc.uniqueArray(fc.record({ key: word, value: anyValue }), {
  maxLength: 4,
  selector: ({ key }) => key,
})
const optional = { requiredKeys: [] }
const time = fc.bigInt({ min: 0n, max: 9_007_199_254_740_991_999n }).map(String)
const common = { attributes, timeUnixNano: time, startTimeUnixNano: time, flags: fc.nat(3) }
const statistics = { count, sum: double, min: double, max: double }
const bucketsOf = (size: number) =>
  fc.record({ offset: fc.integer(), bucketCounts: fc.array(count, { maxLength: size }) }, optional)

const points = {
  number: fc.oneof(
    fc.record({ ...common, asInt: integer }, { requiredKeys: ['asInt'] }),
    fc.record({ ...common, asDouble: double }, optional),
  ),
  histogram: fc.record(
    {
      ...common,
      ...statistics,
      bucketCounts: fc.array(count, { maxLength: 4 }),
      explicitBounds: fc.array(double, { maxLength: 3 }),
    },
    optional,
  ),
  exponential: fc.record(
    {
      ...common,
      ...statistics,
      scale: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
      zeroCount: count,
      zeroThreshold: double,
      positive: bucketsOf(3),
      negative: bucketsOf(3),
    },
    optional,
  ),
  summary: fc.record(
    {
      ...common,
      count,
      sum: double,
      quantileValues: fc.array(fc.record({ quantile: double, value: double }, optional), {
        maxLength: 3,
      }),
    },
    optional,
  ),
}

const aggregationTemporality = fc.nat(2)
const listOf = <Point>(point: fc.Arbitrary<Point>) => fc.array(point, { maxLength: 3 })
const data = fc.oneof(
  fc.record({ gauge: fc.record({ dataPoints: listOf(points.number) }) }),
  fc.record({
    sum: fc.record({
      dataPoints: listOf(points.number),
      aggregationTemporality,
      isMonotonic: fc.boolean(),
    }),
  }),
  fc.record({
    histogram: fc.record({ dataPoints: listOf(points.histogram), aggregationTemporality }),
  }),
  fc.record({
    exponentialHistogram: fc.record({
      dataPoints: listOf(points.exponential),
      aggregationTemporality,
    }),
  }),
  fc.record({ summary: fc.record({ dataPoints: listOf(points.summary) }) }),
)
const metric = fc
  .record({ name: word, unit: word, description: word, data })
  .map(({ data: given, ...rest }) => ({ ...rest, ...given }))
const scopeMetrics = fc.record({
  scope: fc.record({ name: word, attributes }),
  metrics: fc.array(metric, { maxLength: 3 }),
  schemaUrl: word,
})
const requests = fc.record({
  resourceMetrics: fc.array(
    fc.record({
      resource: fc.record({ attributes }),
      scopeMetrics: fc.array(scopeMetrics, { maxLength: 2 }),
    }),
    { maxLength: 2 },
  ),
})

describe('any request', () => {
  test('has the same records in Protobuf and in JSON', () => {
    fc.assert(
      fc.property(requests, (request) => void recordsInBoth(request)),
      { numRuns: 500 },
    )
  })

  test('is read point by point: a refused one is kept so that it is refused for the same', () => {
    fc.assert(
      fc.property(requests, (request) => {
        for (const [bytes, encoding] of [
          [protobufOf(request), 'protobuf'],
          [jsonOf(request), 'json'],
        ] as const) {
          const read = otlpRecords(bytes, encoding)
          if (!read.ok) throw new Error(read.problem)
          for (const record of read.records) {
            if (!('problem' in record)) continue
            const again = otlpRecords(record.kept, encoding)
            expect(again).toMatchObject({ records: [{ problem: record.problem }] })
          }
        }
      }),
      { numRuns: 300 },
    )
  })
})
