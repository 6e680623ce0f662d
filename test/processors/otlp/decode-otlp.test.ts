import { describe, expect, test } from 'vitest'
import { otlpDecoder, otlpRecords } from '../../../processors/decode-otlp.ts'
import { readingsOf } from '../../support/binary-messages.ts'
import { decodedStream } from '../../support/decoded-stream.ts'
import { jsonOf, protobufOf, requestOf } from '../../support/otlp-messages.ts'
import {
  attribute,
  gauge,
  recordsInBoth,
  text,
  timeUnixNano,
  timeUs,
} from '../../support/otlp-points.ts'

/** The members of the records of a request. */
function membersOf(request: object) {
  return recordsInBoth(request).map((record) => ('members' in record ? record.members : record))
}

describe('a data point', () => {
  test('of a gauge is a record with its metric, its value and its unit', () => {
    expect(recordsInBoth(requestOf(gauge({ asDouble: 0.5 }, { unit: '1' })))).toEqual([
      { members: { metric: 'load', value: 0.5, unit: '1' }, timeUs },
    ])
  })

  test.each([
    [{ asInt: '-7' }, -7],
    [{ asInt: '9007199254740992' }, 2 ** 53],
    [{ asDouble: 'NaN' }, Number.NaN],
    [{ asDouble: '-Infinity' }, Number.NEGATIVE_INFINITY],
    [{ asDouble: 0 }, 0],
    [{ asInt: '0' }, 0],
  ])('has the value %j', (point, value) => {
    expect(membersOf(requestOf(gauge(point)))).toEqual([{ metric: 'load', value }])
  })

  test('without a time has none', () => {
    expect(recordsInBoth(requestOf(gauge({ timeUnixNano: '0', asDouble: 1 })))).toMatchObject([
      { timeUs: undefined },
    ])
  })

  test('that says that it has no value is left out', () => {
    const points = [{ flags: 1 }, { flags: 1, asDouble: 1 }, { flags: 2, asDouble: 2 }]
    const metric = { name: 'load', gauge: { dataPoints: points } }
    expect(membersOf(requestOf(metric))).toEqual([{ metric: 'load', value: 2 }])
  })

  test('of a sum says what its value counts from', () => {
    const sums = [0, 1, 2].map((aggregationTemporality) => ({
      name: 'requests',
      sum: { aggregationTemporality, isMonotonic: true, dataPoints: [{ asInt: '3' }] },
    }))
    expect(sums.flatMap((sum) => membersOf(requestOf(sum)))).toEqual([
      { metric: 'requests', value: 3 },
      { metric: 'requests', value: 3, temporality: 'delta' },
      { metric: 'requests', value: 3, temporality: 'cumulative' },
    ])
  })

  test('of a histogram has its buckets', () => {
    const point = {
      count: '4',
      sum: 12.5,
      min: 0.5,
      max: 9,
      bucketCounts: ['1', '0', '3'],
      explicitBounds: [1, 5],
    }
    const histogram = { aggregationTemporality: 1, dataPoints: [point, {}] }
    expect(membersOf(requestOf({ name: 'latency', unit: 's', histogram }))).toEqual([
      {
        metric: 'latency',
        unit: 's',
        temporality: 'delta',
        ...point,
        count: 4,
        bucketCounts: [1, 0, 3],
      },
      { metric: 'latency', unit: 's', temporality: 'delta', count: 0 },
    ])
  })

  test('of an exponential histogram has its buckets on both sides', () => {
    const point = {
      count: '5',
      sum: -1.5,
      scale: -2,
      zeroCount: '1',
      zeroThreshold: 0.25,
      positive: { offset: -1, bucketCounts: ['2', '300'] },
      negative: { bucketCounts: ['1'] },
      min: -2,
      max: 3,
    }
    const exponentialHistogram = { aggregationTemporality: 2, dataPoints: [point, { count: '1' }] }
    const metric = { metric: 'latency', temporality: 'cumulative' }
    expect(membersOf(requestOf({ name: 'latency', exponentialHistogram }))).toEqual([
      {
        ...metric,
        count: 5,
        sum: -1.5,
        min: -2,
        max: 3,
        scale: -2,
        zeroCount: 1,
        zeroThreshold: 0.25,
        positiveOffset: -1,
        positiveBucketCounts: [2, 300],
        negativeOffset: 0,
        negativeBucketCounts: [1],
      },
      { ...metric, count: 1, scale: 0, zeroCount: 0 },
    ])
  })

  test('of a summary has its quantiles', () => {
    const quantileValues = [{ value: 0.5 }, { quantile: 0.99, value: 7 }]
    const summary = { dataPoints: [{ count: '2', sum: 7.5, quantileValues }, {}] }
    expect(membersOf(requestOf({ name: 'latency', summary }))).toEqual([
      {
        metric: 'latency',
        count: 2,
        sum: 7.5,
        quantiles: [
          { quantile: 0, value: 0.5 },
          { quantile: 0.99, value: 7 },
        ],
      },
      { metric: 'latency', count: 0, sum: 0, quantiles: [] },
    ])
  })

  test('does not have its exemplars, its start, or what nobody knows', () => {
    const exemplars = [{ asDouble: 3, traceId: 'AAEC', filteredAttributes: [text('a', 'b')] }]
    const point = { asDouble: 1, exemplars, startTimeUnixNano: '5' }
    const metadata = [text('prometheus.type', 'gauge')]
    const request = requestOf(gauge(point, { description: 'd', metadata }))
    expect(membersOf(request)).toEqual([{ metric: 'load', value: 1 }])
    const newer = otlpRecords(jsonOf({ ...request, newer: [{}] }), 'json')
    expect(newer).toMatchObject({ records: [{ members: { value: 1 } }] })
  })
})

describe('attributes', () => {
  test('of all kinds are members', () => {
    const attributes = [
      text('host.name', 'b7'),
      attribute('on', { boolValue: false }),
      attribute('core', { intValue: '3' }),
      attribute('limit', { doubleValue: 0.5 }),
      attribute('raw', { bytesValue: 'AP8=' }),
      attribute('list', { arrayValue: { values: [{ intValue: '1' }, {}, { stringValue: 'a' }] } }),
      attribute('map', {
        kvlistValue: {
          values: [text('a', 'b'), attribute('empty', {}), attribute('in', { kvlistValue: {} })],
        },
      }),
      attribute('__proto__', { stringValue: 'p' }),
      attribute('unset', {}),
      text('', 'nameless'),
    ]
    const [members] = membersOf(requestOf(gauge({ asDouble: 1, attributes })))
    expect(Object.entries(members as object)).toEqual([
      ['metric', 'load'],
      ['value', 1],
      ['host.name', 'b7'],
      ['on', false],
      ['core', 3],
      ['limit', 0.5],
      ['raw', 'AP8='],
      ['list', [1, null, 'a']],
      ['map', { a: 'b', empty: null, in: {} }],
      ['__proto__', 'p'],
      ['', 'nameless'],
    ])
  })

  test('of the point count before those of the scope, and these before those of the resource', () => {
    const resource = { attributes: ['a', 'b', 'c', 'value'].map((key) => text(key, 'resource')) }
    const scope = { name: 's', attributes: ['a', 'b'].map((key) => text(key, 'scope')) }
    const attributes = [text('a', 'point')]
    expect(membersOf(requestOf(gauge({ asDouble: 1, attributes }), { resource, scope }))).toEqual([
      { metric: 'load', value: 1, a: 'point', b: 'scope', c: 'resource' },
    ])
  })

  test.each([
    [[text('a', 'x'), text('a', 'x')], 'the attribute a comes twice'],
    [
      [text('value', 'x')],
      'an attribute of the data point is named value, as one of its values is',
    ],
    [[attribute('id', { intValue: '9007199254740993' })], 'beyond 2^53'],
    [
      [attribute('m', { kvlistValue: { values: [text('k', ''), text('k', '')] } })],
      'the key k comes twice',
    ],
    [
      Array.from({ length: 1_001 }, (_, index) => text(`a${index}`, '')),
      'there are more than 1000 attributes',
    ],
  ])('that no reading can have refuse their point alone: %#', (attributes, problem) => {
    const metric = { name: 'load', gauge: { dataPoints: [{ asInt: 1 }, { asInt: 2, attributes }] } }
    expect(recordsInBoth(requestOf(metric))).toMatchObject([
      { members: { value: 1 } },
      { problem: expect.stringContaining(problem) as string },
    ])
  })

  test('that a resource cannot have refuse its points, and no others', () => {
    const attributes = [text('a', 'x'), text('a', 'y')]
    const { resourceMetrics: bad } = requestOf(gauge({ asInt: 1 }), { resource: { attributes } })
    const { resourceMetrics: good } = requestOf(gauge({ asInt: 2 }))
    expect(recordsInBoth({ resourceMetrics: [...bad, ...good] })).toMatchObject([
      { problem: 'the attribute a comes twice' },
      { members: { value: 2 } },
    ])
  })
})

describe('a point that cannot be read', () => {
  test.each([
    [{}, 'the data point has no value'],
    [{ asInt: '9007199254740993' }, 'the integer 9007199254740993 is beyond 2^53'],
    [{ asInt: 1, timeUnixNano: '18446744073709551615' }, 'timeUnixNano is beyond the year 2255'],
  ])('says why: %j', (point, problem) => {
    expect(recordsInBoth(requestOf(gauge(point)))).toMatchObject([
      { problem: expect.stringContaining(problem) as string },
    ])
  })

  test('has a metric with a name', () => {
    expect(recordsInBoth(requestOf(gauge({ asInt: 1 }, { name: '' })))).toMatchObject([
      { problem: 'the metric has no name' },
    ])
  })

  test('is kept as a request of its own, which a redrive refuses again', () => {
    const decode = otlpDecoder(decodedStream({ value: { type: 'number' } }))
    const attributes = [text('a', 'x'), text('a', 'y')]
    const dataPoints = [{ asInt: '1' }, { asInt: '2', timeUnixNano, attributes }, { asInt: '3' }]
    const sum = { aggregationTemporality: 1, dataPoints }
    const metric = { name: 'load', unit: '1', description: 'd', sum }
    const resource = { attributes: [text('host.name', 'é')] }
    const request = requestOf(metric, { resource, scope: { name: 's' } })
    const alone = requestOf(
      { ...metric, sum: { ...sum, dataPoints: [dataPoints[1]] } },
      {
        resource,
        scope: { name: 's' },
      },
    )

    for (const bytesOf of [protobufOf, jsonOf]) {
      const message = decode(bytesOf(request))
      if (!message.ok) throw new Error(message.problem)
      const [, kept = new Uint8Array()] = message.elements?.(bytesOf(request)) ?? []

      expect(message.unreadable).toEqual(new Map([[1, 'the attribute a comes twice']]))
      expect(message.format).toBe('otlp')
      expect([...(message.elementFormats?.keys() ?? [])]).toEqual([0, 2])
      expect(otlpRecords(kept, bytesOf === jsonOf ? 'json' : 'protobuf')).toEqual(
        otlpRecords(bytesOf(alone), bytesOf === jsonOf ? 'json' : 'protobuf'),
      )
      expect(decode(kept)).toMatchObject({
        unreadable: message.unreadable && new Map([[0, 'the attribute a comes twice']]),
      })
    }
  })
})

describe('a request for a stream', () => {
  const decode = otlpDecoder(decodedStream({ value: { type: 'number' } }))
  const request = requestOf(gauge({ asDouble: 0.5, attributes: [text('host.name', 'b7')] }))

  test('is its points as readings, with the time where the stream has it', () => {
    const reading = { metric: 'load', value: 0.5, 'host.name': 'b7' }
    const expected = [{ ...reading, timestamp: '2026-01-31T09:59:50.123456Z' }]
    expect(readingsOf(decode(protobufOf(request)))).toEqual(expected)
    expect(readingsOf(decode(jsonOf(request)))).toEqual(expected)
    const at = { timestampField: 'at', timestampFormat: 'epoch_ms' }
    const timed = otlpDecoder(decodedStream({}, {}, at))
    expect(readingsOf(timed(jsonOf(request)))).toEqual([{ ...reading, at: timeUs / 1_000 }])
  })

  test('keeps what is refused later as JSON, with the numbers that JSON cannot write', () => {
    const infinite = requestOf(gauge({ asDouble: 'NaN' }))
    const message = decode(protobufOf(infinite))
    expect(message).toMatchObject({ elementFormats: new Map([[0, 'json']]) })
    const [kept] = (message.ok && message.elements?.(protobufOf(infinite))) || []
    expect(String(kept)).toBe(
      '{"metric":"load","value":NaN,"timestamp":"2026-01-31T09:59:50.123456Z"}',
    )
  })

  test.each([[new Uint8Array()], [Buffer.from('{}')], [protobufOf({})]])(
    'without points has no readings: %#',
    (payload) => {
      expect(decode(payload)).toEqual({ ok: false, problem: 'the batch is empty' })
      const encoding = payload.length > 0 ? 'json' : 'protobuf'
      expect(otlpRecords(payload, encoding)).toEqual({ ok: true, records: [] })
    },
  )
})
