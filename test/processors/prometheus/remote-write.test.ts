import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { remoteWriteDecoder } from '../../../processors/decode-prometheus.ts'
import type { Records } from '../../../processors/records.ts'
import {
  type RemoteWrite,
  remoteWriteRecords,
  writtenOf,
} from '../../../processors/remote-write.ts'
import { decodedStream } from '../../support/decoded-stream.ts'
import {
  goClientRequest,
  metadataRequest,
  prometheusRequest,
} from '../../support/prometheus/captured-requests.ts'
import {
  type SentSeries,
  snapped,
  staleMarker,
  writeRequest,
  writeRequest2,
} from '../../support/prometheus/remote-write-bodies.ts'

function sent(body: Uint8Array): RemoteWrite {
  const found = remoteWriteRecords(body)
  if (!found.ok) throw new Error(found.problem)
  return found
}

function recordsOf(content: Uint8Array): Records {
  return sent(snapped(content)).records
}

function problemOf(content: Uint8Array): string {
  const found = remoteWriteRecords(snapped(content))
  return found.ok ? 'no problem' : found.problem
}

function refusalOf(content: Uint8Array): string {
  const [record] = recordsOf(content)
  return record !== undefined && 'problem' in record ? record.problem : 'not refused'
}

const versions = [
  ['1.0', writeRequest],
  ['2.0', writeRequest2],
] as const

const up = ['__name__', 'up'] as const

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

  test('is refused where it is cut off, and never throws whatever its bytes are', () => {
    const histograms = [
      { timeMs: 1, count: 3, sum: 1, schema: 0, positiveSpans: [[0, 1]], positiveDeltas: [3] },
    ]
    const content = write([
      { labels: [up, ['a', 'b']], samples: [{ value: 1, timeMs: 1 }], histograms } as never,
    ])
    const whole = recordsOf(content)
    for (let end = 0; end < content.length; end++) {
      const found = remoteWriteRecords(snapped(content.subarray(0, end)))
      expect(found).not.toEqual({ ok: true, records: whole })
    }
    fc.assert(
      fc.property(fc.nat(content.length - 1), fc.nat(255), (at, byte) => {
        const changed = Buffer.from(content)
        changed[at] = byte
        expect(typeof remoteWriteRecords(snapped(changed)).ok).toBe('boolean')
      }),
      { numRuns: 1_000 },
    )
  })

  test('skips what says that a series has ended', () => {
    const samples = [
      { value: 1.25, timeMs: 1 },
      { value: 2, timeMs: 2 },
    ]
    const histograms = [1.25, 3].map((sum) => ({ timeMs: 1, count: 0, sum, schema: 0 }))
    const content = Buffer.from(write([{ labels: [up], samples, histograms }]))
    const value = Buffer.from('000000000000f43f', 'hex')
    for (let at = content.indexOf(value); at >= 0; at = content.indexOf(value)) {
      staleMarker.copy(content, at)
    }

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

  const samples = [{ value: 1, timeMs: 1 }]

  test.each<[SentSeries, string]>([
    [{ labels: [['a', 'b']], samples }, 'the metric has no name'],
    [{ labels: [up, up], samples }, 'the metric has two names'],
    [{ labels: [up, ['a', 'b'], ['a', 'c']], samples }, 'it has the label a twice'],
    [{ labels: [up, ['', 'b']], samples }, 'a label has no name'],
    [{ labels: [up, ['__proto__', 'b']], samples }, 'a field cannot have the name __proto__'],
    [{ labels: [up, ['a', '\0']], samples }, 'a label is not valid UTF-8, or has U+0000 in it'],
    [
      { labels: [up], samples: [{ value: 1, timeMs: 1e15 }] },
      'a time is not in the years 0001 to 9999',
    ],
    [
      {
        labels: [up],
        histograms: [
          { timeMs: 1, count: 1, sum: 1, schema: 0, positiveSpans: [[0, 2]], positiveDeltas: [1] },
        ],
      },
      'a histogram has not as many counts as buckets',
    ],
  ])('refuses the series %j alone', (bad, problem) => {
    const good = { labels: [up], samples }
    const records = recordsOf(write([good, bad, good]))

    expect(records).toMatchObject([
      { members: { value: 1 } },
      { problem },
      { members: { value: 1 } },
    ])
    const [, refused] = records
    const kept = refused !== undefined && 'problem' in refused ? refused.kept : Buffer.alloc(0)
    expect(sent(kept).records).toMatchObject([{ problem }])
  })

  test('of a series of 100,000 labels has it refused alone', () => {
    const many = Array.from({ length: 100_000 }, (_, index) => [`l${index}`, 'v'] as const)
    expect(refusalOf(write([{ labels: [up, ...many], samples }]))).toBe(
      'it has more than 1000 labels',
    )
  })

  test('refuses a series as one record, whatever of it can be read', () => {
    const content = Buffer.from(
      write([
        {
          labels: [up],
          samples: [
            { value: 1, timeMs: 1 },
            { value: 1.25, timeMs: 2 },
            { value: 2, timeMs: 1e15 },
          ],
        },
      ]),
    )
    staleMarker.copy(content, content.indexOf(Buffer.from('000000000000f43f', 'hex')))

    const { records, stale } = sent(snapped(content))
    expect(records).toMatchObject([{ problem: 'a time is not in the years 0001 to 9999' }])
    expect(stale).toEqual({ samples: 0, histograms: 0 })
  })

  test('refuses a label that is not UTF-8, and takes the character in its place', () => {
    const content = Buffer.from(write([{ labels: [up, ['a', 'XX']], samples }]))
    content[content.indexOf('XX')] = 0xff
    expect(refusalOf(content)).toBe('a label is not valid UTF-8, or has U+0000 in it')
    expect(recordsOf(write([{ labels: [up, ['a', '\uFFFD']], samples }]))).toMatchObject([
      { members: { a: '\uFFFD' } },
    ])
  })

  test('counts buckets with numbers of more than 49 bits', () => {
    const histogram = { timeMs: 1, count: 2 ** 52, sum: 1, schema: 0 }
    const positiveDeltas = [2 ** 52, -(2 ** 51), 5]
    const series = { ...histogram, positiveSpans: [[0, 3]] as const, positiveDeltas }
    expect(recordsOf(write([{ labels: [up], histograms: [series] }]))).toMatchObject([
      { members: { count: 2 ** 52, positiveCounts: [2 ** 52, 2 ** 51, 2 ** 51 + 5] } },
    ])
  })

  test('of more than 10,000 ends of series, or series without samples, is refused', () => {
    const problem = 'more than 10000 readings in one message'
    expect(problemOf(write(Array.from({ length: 10_001 }, () => ({ labels: [] }))))).toBe(problem)
    const many = Array.from({ length: 10_001 }, () => ({ value: 1.25, timeMs: 1 }))
    const content = Buffer.from(write([{ labels: [up], samples: many }]))
    const value = Buffer.from('000000000000f43f', 'hex')
    for (let at = content.indexOf(value); at >= 0; at = content.indexOf(value, at)) {
      staleMarker.copy(content, at)
    }
    expect(problemOf(content)).toBe(problem)
  })

  test('of more than 10,000 samples is refused', () => {
    const many = (count: number) => Array.from({ length: count }, () => ({ value: 1, timeMs: 1 }))
    expect(recordsOf(write([{ labels: [up], samples: many(10_000) }]))).toHaveLength(10_000)
    const problem = 'more than 10000 readings in one message'
    expect(problemOf(write([{ labels: [up], samples: many(10_001) }]))).toBe(problem)
    const series = Array.from({ length: 10_001 }, () => ({ labels: [up], samples }))
    expect(problemOf(write(series))).toBe(problem)
  })

  test('whose labels come with too many samples is refused', () => {
    const long = ['a', 'x'.repeat(4_000)] as const
    const many = Array.from({ length: 3_000 }, () => ({ value: 1, timeMs: 1 }))
    expect(problemOf(write([{ labels: [up, long], samples: many }]))).toBe(
      'the labels of all samples have more than 8388608 characters',
    )
  })

  test('whose histograms have too many buckets is refused, alone or together', () => {
    const one = (count: number) => ({
      timeMs: 1,
      count: 1,
      sum: 1,
      schema: 0,
      positiveSpans: [[0, count]] as const,
      positiveDeltas: Array.from({ length: count }, () => 0),
    })
    const all = Array.from({ length: 51 }, () => one(10_000))
    expect(refusalOf(write([{ labels: [up], histograms: [one(10_001)] }]))).toBe(
      'a histogram has more than 10000 buckets',
    )
    expect(problemOf(write([{ labels: [up], histograms: all }]))).toBe(
      'the histograms have more than 500000 buckets together',
    )
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

  test('of both versions at once is refused', () => {
    const content = Buffer.concat([writeRequest(one), writeRequest2(one)])
    expect(problemOf(content)).toBe('the message is of remote write 2.0, and not only of 1.0')
  })

  test('refuses a series that names a symbol that is not there', () => {
    const writer = new BinaryWriter()
    writer.tag(4, WireType.LengthDelimited).string('')
    writer.tag(5, WireType.LengthDelimited).fork()
    writer.tag(1, WireType.LengthDelimited).fork().uint32(1).uint32(0).join().join()
    const content = writer.finish()
    expect(refusalOf(content)).toBe('a label names symbol 1, and there are 1 symbols')
  })

  test('has an odd number of symbols in a series that is refused', () => {
    const writer = new BinaryWriter()
    writer.tag(4, WireType.LengthDelimited).string('')
    writer.tag(5, WireType.LengthDelimited).fork()
    writer.tag(1, WireType.LengthDelimited).fork().uint32(0).join().join()
    expect(refusalOf(writer.finish())).toBe('a label has a name and no value')
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

  test('of more than 200,000 symbols is refused', () => {
    const writer = new BinaryWriter()
    for (let count = 0; count <= 200_000; count++)
      writer.tag(4, WireType.LengthDelimited).string('')
    expect(problemOf(writer.finish())).toBe('there are more than 200000 symbols')
  })

  test('whose refused series would be kept with too many symbols is refused', () => {
    const label = ['a', `${'x'.repeat(1_000_000)}\0`] as const
    const all = Array.from({ length: 10 }, () => ({ labels: [up, label], ...one[0] }))
    const named = all.map((series) => ({ ...series, labels: [up, label] }))
    expect(problemOf(writeRequest2(named))).toBe(
      'the labels of all samples have more than 8388608 characters',
    )
  })

  test.each([
    ['a length beyond its end', '0a7f00', 'the message is cut off'],
    ['a length beyond a double', '0affffffffffffffffff01', 'the message is cut off'],
    [
      'a number without an end',
      '0affffffffffffffffffffff',
      'not valid Protobuf: a number has more than 10 bytes',
    ],
    ['a field without a number', '0200', 'not valid Protobuf: a field has no number'],
    ['a group', '0b0c', 'not valid Protobuf: a value is written in an unknown way'],
  ])('with %s is refused', (_, content, problem) => {
    expect(problemOf(Buffer.from(content, 'hex'))).toContain(problem)
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
