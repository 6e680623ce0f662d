import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { remoteWriteDecoder } from '../../../processors/decode-prometheus.ts'
import { remoteWriteRecords, writtenOf } from '../../../processors/remote-write.ts'
import { decodedStream } from '../../support/decoded-stream.ts'
import {
  goClientRequest,
  metadataRequest,
  prometheusRequest,
} from '../../support/prometheus/captured-requests.ts'
import {
  ended,
  lastValue,
  recordsOf,
  sent,
  up,
  versions,
} from '../../support/prometheus/read-requests.ts'
import {
  snapped,
  writeRequest,
  writeRequest2,
} from '../../support/prometheus/remote-write-bodies.ts'

describe('requests of real clients', () => {
  test('Prometheus 2.42: samples of two rooms, and the end of a series', () => {
    const { version, records, stale } = sent(prometheusRequest)
    const own = { instance: '127.0.0.1:36035', job: 'rooms' }
    const metric = 'room_temperature_celsius'

    expect(version).toBe(1)
    expect(records).toHaveLength(8)
    expect(records.slice(0, 4)).toEqual([
      {
        members: { ...own, metric, room: 'kitchen', note: 'a "b" \\ c', value: 20.84160391964539 },
        timeUs: 1_795_817_141_463_000,
      },
      { members: { ...own, metric, room: 'Küche', value: NaN }, timeUs: 1_795_817_141_463_000 },
      { members: { ...own, metric: 'big', value: Infinity }, timeUs: 1_795_817_141_463_000 },
      { members: { ...own, metric: 'up', value: 1 }, timeUs: 1_795_817_141_463_000 },
    ])
    expect(stale).toEqual({ samples: 1, histograms: 0 })
  })

  test('the client of Prometheus for Go, 2.0: samples and a native histogram', () => {
    const { version, records } = sent(goClientRequest)

    expect(version).toBe(2)
    expect(records).toEqual([
      {
        members: { metric: 'room_temperature_celsius', room: 'kitchen', value: 21.5 },
        timeUs: 1_769_853_598_000_000,
      },
      {
        members: { metric: 'room_temperature_celsius', room: 'kitchen', value: -0.25 },
        timeUs: 1_769_853_599_000_000,
      },
      {
        members: {
          metric: 'request_seconds',
          room: 'Küche',
          count: 12,
          sum: 18.4,
          schema: 1,
          zeroThreshold: 0.001,
          zeroCount: 2,
          negativeIndexes: [0, 1],
          negativeCounts: [2, 3],
          positiveIndexes: [-1, 0, 2, 3],
          positiveCounts: [1, 2, 1, 1],
        },
        timeUs: 1_769_853_598_000_000,
      },
    ])
  })

  test('metadata alone are no records, and no batch that is refused', () => {
    expect(sent(metadataRequest)).toMatchObject({ version: undefined, records: [] })
    const decode = remoteWriteDecoder(decodedStream({ value: { type: 'number' } }))
    expect(decode(metadataRequest)).toMatchObject({ ok: true, isBatch: true, readings: [] })
  })
})

const text = fc.string({ unit: 'grapheme' }).filter((one) => !one.includes('\0'))
const label = text.filter((one) => !['', 'metric', 'value', '__name__', '__proto__'].includes(one))
const series = fc.record({
  labels: fc
    .uniqueArray(fc.tuple(label, text), { selector: ([name]) => name, maxLength: 6 })
    .map((labels) => labels.filter(([name]) => !name.startsWith('exported_'))),
  samples: fc.array(
    fc.record({ value: fc.double(), timeMs: fc.integer({ min: -1e12, max: 1e13 }) }),
    { maxLength: 4 },
  ),
  exemplars: fc.nat(2),
})

describe.each(versions)('remote write %s', (_, write) => {
  test('has each sample with its labels, its value and its time', () => {
    fc.assert(
      fc.property(fc.array(series, { maxLength: 6 }), (all) => {
        const named = all.map((one) => ({ ...one, labels: [up, ...one.labels] }))
        const expected = named.flatMap(({ labels, samples }) =>
          samples.map(({ value, timeMs }) => ({
            members: {
              ...Object.fromEntries(labels.slice(1).filter(([, one]) => one !== '')),
              metric: 'up',
              value,
            },
            timeUs: timeMs * 1_000,
          })),
        )
        expect(recordsOf(write(named))).toEqual(expected)
      }),
    )
  })

  test('skips what says that a series has ended', () => {
    const samples = [
      { value: lastValue, timeMs: 1 },
      { value: 2, timeMs: 2 },
    ]
    const histograms = [lastValue, 3].map((sum) => ({ timeMs: 1, count: 0, sum, schema: 0 }))
    const content = ended(write([{ labels: [up], samples, histograms }]))

    const { records, stale } = sent(snapped(content))
    expect(records).toMatchObject([{ members: { value: 2 } }, { members: { sum: 3 } }])
    expect(stale).toEqual({ samples: 1, histograms: 1 })
  })

  test('has a native histogram with the places and counts of its buckets', () => {
    const histogram = { timeMs: 5, count: 7, sum: 1.5, schema: -53, customValues: [0.5, 1] }
    const spans = [[2, 1]] as const
    const floats = { ...histogram, count: 7.5, positiveSpans: spans, positiveCounts: [7.5] }
    const whole = { ...histogram, negativeSpans: spans, negativeDeltas: [3] }

    expect(
      recordsOf(write([{ labels: [up, ['count', 'x']], histograms: [floats, whole] }])),
    ).toEqual([
      {
        members: {
          metric: 'up',
          exported_count: 'x',
          count: 7.5,
          sum: 1.5,
          schema: -53,
          zeroThreshold: 0,
          zeroCount: 0,
          negativeIndexes: [],
          negativeCounts: [],
          positiveIndexes: [2],
          positiveCounts: [7.5],
          customValues: [0.5, 1],
        },
        timeUs: 5_000,
      },
      {
        members: {
          metric: 'up',
          exported_count: 'x',
          count: 7,
          sum: 1.5,
          schema: -53,
          zeroThreshold: 0,
          zeroCount: 0,
          negativeIndexes: [2],
          negativeCounts: [3],
          positiveIndexes: [],
          positiveCounts: [],
          customValues: [0.5, 1],
        },
        timeUs: 5_000,
      },
    ])
  })

  test('counts buckets with numbers of more than 49 bits', () => {
    const histogram = { timeMs: 1, count: 2 ** 52, sum: 1, schema: 0 }
    const positiveDeltas = [2 ** 52, -(2 ** 51), 5]
    const long = { ...histogram, positiveSpans: [[0, 3]] as const, positiveDeltas }
    expect(recordsOf(write([{ labels: [up], histograms: [long] }]))).toMatchObject([
      { members: { count: 2 ** 52, positiveCounts: [2 ** 52, 2 ** 51, 2 ** 51 + 5] } },
    ])
  })
})

describe('a request', () => {
  const one = [{ labels: [up], samples: [{ value: 1, timeMs: 1 }] }]

  test('of the other version than expected is refused', () => {
    const [first, second] = [snapped(writeRequest(one)), snapped(writeRequest2(one))]
    expect(remoteWriteRecords(first, 2)).toEqual({
      ok: false,
      problem: 'the message is of remote write 1.0, and not only of 2.0',
    })
    expect(remoteWriteRecords(second, 1)).toMatchObject({ ok: false })
    expect(remoteWriteRecords(first, 1)).toMatchObject({ ok: true })
    expect(remoteWriteRecords(second, 2)).toMatchObject({ ok: true })
  })

  test('takes symbols behind its series, and labels one by one', () => {
    const writer = new BinaryWriter()
    writer.tag(5, WireType.LengthDelimited).fork()
    writer.tag(1, WireType.Varint).uint32(0).tag(1, WireType.Varint).uint32(1)
    writer.tag(2, WireType.LengthDelimited).fork().tag(1, WireType.Bit64).double(2).join().join()
    writer.tag(4, WireType.LengthDelimited).string('__name__')
    writer.tag(4, WireType.LengthDelimited).string('up')
    expect(recordsOf(writer.finish())).toEqual([{ members: { metric: 'up', value: 2 }, timeUs: 0 }])
  })
})

test('what was written counts what was accepted, and the ends of series', () => {
  const histogram = { timeMs: 1, count: 0, sum: 0, schema: 0 }
  const samples = [
    { value: 1, timeMs: 1 },
    { value: 2, timeMs: 2 },
  ]
  const request = sent(
    snapped(
      writeRequest2([
        { labels: [up], samples, histograms: [histogram], exemplars: 1 },
        { labels: [], samples },
      ]),
    ),
  )
  const counted = { ...request, stale: { samples: 3, histograms: 1 } }

  expect(writtenOf(counted, () => true)).toEqual({ samples: 5, histograms: 2, exemplars: 0 })
  expect(writtenOf(counted, (index) => index === 1)).toEqual({
    samples: 4,
    histograms: 1,
    exemplars: 0,
  })
})
