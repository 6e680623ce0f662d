import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { remoteWriteRecords } from '../../../processors/remote-write.ts'
import {
  ended,
  lastValue,
  problemOf,
  recordsOf,
  refusalOf,
  sent,
  up,
  versions,
} from '../../support/prometheus/read-requests.ts'
import {
  type SentHistogram,
  type SentSeries,
  snapped,
  writeRequest,
  writeRequest2,
} from '../../support/prometheus/remote-write-bodies.ts'

/** Requests of remote write that are refused, or of which a series is. */

const samples = [{ value: 1, timeMs: 1 }]

/** A histogram of so many buckets. */
function histogramOf(count: number): SentHistogram {
  const positiveDeltas = Array.from({ length: count }, () => 0)
  return { timeMs: 1, count: 1, sum: 1, schema: 0, positiveSpans: [[0, count]], positiveDeltas }
}

describe.each(versions)('remote write %s', (_version, write) => {
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
    const content = ended(
      write([
        {
          labels: [up],
          samples: [
            { value: 1, timeMs: 1 },
            { value: lastValue, timeMs: 2 },
            { value: 2, timeMs: 1e15 },
          ],
        },
      ]),
    )

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

  test('of more than 10,000 ends of series, or series without samples, is refused', () => {
    const problem = 'more than 10000 readings in one message'
    expect(problemOf(write(Array.from({ length: 10_001 }, () => ({ labels: [] }))))).toBe(problem)
    const many = Array.from({ length: 10_001 }, () => ({ value: lastValue, timeMs: 1 }))
    expect(problemOf(ended(write([{ labels: [up], samples: many }])))).toBe(problem)
  })

  test('of more than 10,000 samples is refused', () => {
    const many = Array.from({ length: 10_001 }, () => ({ value: 1, timeMs: 1 }))
    expect(recordsOf(write([{ labels: [up], samples: many.slice(1) }]))).toHaveLength(10_000)
    const problem = 'more than 10000 readings in one message'
    expect(problemOf(write([{ labels: [up], samples: many }]))).toBe(problem)
    expect(problemOf(write(many.map(() => ({ labels: [up], samples }))))).toBe(problem)
  })

  test('whose labels come with too many samples is refused', () => {
    const long = ['a', 'x'.repeat(4_000)] as const
    const many = Array.from({ length: 3_000 }, () => ({ value: 1, timeMs: 1 }))
    expect(problemOf(write([{ labels: [up, long], samples: many }]))).toBe(
      'the labels of all samples have more than 8388608 characters',
    )
  })

  test('whose histograms have too many buckets is refused, alone or together', () => {
    const all = Array.from({ length: 51 }, () => histogramOf(10_000))
    expect(refusalOf(write([{ labels: [up], histograms: [histogramOf(10_001)] }]))).toBe(
      'a histogram has more than 10000 buckets',
    )
    expect(problemOf(write([{ labels: [up], histograms: all }]))).toBe(
      'the histograms have more than 500000 buckets together',
    )
  })
})

describe('a request', () => {
  const one = [{ labels: [up], samples }]

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
