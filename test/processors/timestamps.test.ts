import { encode as encodeMsgpack } from '@msgpack/msgpack'
import { encode as encodeCbor } from 'cborg'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decoders } from '../../processors/decode.ts'
import { csvDecoder } from '../../processors/decode-csv.ts'
import { senmlJsonDecoder } from '../../processors/decode-senml.ts'
import { judgeOf } from '../../processors/index.ts'
import { plainScanOf } from '../../processors/scan.ts'
import { claimOf, timeOf } from '../../processors/timestamp.ts'
import type { DecodedMessage, Decoder } from '../../src/contracts/reading.ts'
import type { StreamSchema, TimestampFormat } from '../../src/contracts/stream-schema.ts'
import { formatUs } from '../../src/core/time.ts'
import { importedReading } from '../../src/reading/imports/imported-reading.ts'
import { hex, readingsOf } from '../support/binary-messages.ts'

const receivedAtUs = Date.UTC(2026, 2, 1, 12) * 1000
const futureToleranceUs = 300_000_000

/** What becomes of a time, whatever the format of its message: microseconds, or the reason. */
function judged(timestampFormat: TimestampFormat, reading: unknown): number | string {
  const judge = judgeOf({
    fields: {},
    validation: 'strict',
    timestampField: 'at',
    timestampFormat,
  })
  const verdict = judge(reading, { receivedAtUs, futureToleranceUs })
  return verdict.accepted ? verdict.timestampUs : `${verdict.reason}: ${verdict.message}`
}

/** An instant of a day in 2026, in microseconds. */
const us = (text: string) => Date.parse(text) * 1000

const tooFar = 'timestamp_in_future'
const noInstant = 'timestamp_invalid: at must be an RFC 3339 date-time'
const badZone = 'timestamp_invalid: at must have the time zone'
const tooOld = 'timestamp_invalid: at times before 1970'
const noNumber = 'timestamp_invalid: at must be a number'

type Case = readonly [TimestampFormat, unknown, number | string]

const texts: readonly Case[] = [
  ['rfc3339', '2026-01-31T23:59:59Z', us('2026-01-31T23:59:59Z')],
  ['rfc3339', '2026-01-31t23:59:59z', us('2026-01-31T23:59:59Z')],
  ['rfc3339', '2026-01-31T23:59:59-00:00', us('2026-01-31T23:59:59Z')],
  ['rfc3339', '2026-01-31T23:59:59+00:00', us('2026-01-31T23:59:59Z')],
  ['rfc3339', '2026-01-31T23:59:59+14:00', us('2026-01-31T09:59:59Z')],
  ['rfc3339', '2026-01-31T23:59:59-12:00', us('2026-02-01T11:59:59Z')],
  ['rfc3339', '2026-01-31T23:59:59+05:45', us('2026-01-31T18:14:59Z')],
  ['rfc3339', '2026-01-31T23:59:59+23:59', us('2026-01-31T00:00:59Z')],
  ['rfc3339', '2026-01-31T23:59:59.1Z', us('2026-01-31T23:59:59.100Z')],
  ['rfc3339', '2026-01-31T23:59:59.12Z', us('2026-01-31T23:59:59.120Z')],
  ['rfc3339', '2026-01-31T23:59:59.123Z', us('2026-01-31T23:59:59.123Z')],
  ['rfc3339', '2026-01-31T23:59:59.1234Z', us('2026-01-31T23:59:59.123Z') + 400],
  ['rfc3339', '2026-01-31T23:59:59.12345Z', us('2026-01-31T23:59:59.123Z') + 450],
  ['rfc3339', '2026-01-31T23:59:59.123456Z', us('2026-01-31T23:59:59.123Z') + 456],
  ['rfc3339', '2026-01-31T23:59:59.1234569Z', us('2026-01-31T23:59:59.123Z') + 456],
  ['rfc3339', '2026-01-31T23:59:59.123456999Z', us('2026-01-31T23:59:59.123Z') + 456],
  ['rfc3339', '2026-01-31T23:59:59.999999999999Z', us('2026-01-31T23:59:59.999Z') + 999],
  ['rfc3339', `2026-01-31T23:59:59.${'0'.repeat(5_000)}1Z`, us('2026-01-31T23:59:59Z')],
  ['rfc3339', '2024-02-29T12:00:00Z', us('2024-02-29T12:00:00Z')],
  ['rfc3339', '2000-02-29T12:00:00Z', us('2000-02-29T12:00:00Z')],
  ['rfc3339', '1970-01-01T00:00:00Z', 0],
  ['rfc3339', '1970-01-01T00:00:00.000001Z', 1],
  ['rfc3339', '1970-01-01T01:00:00+01:00', 0],
  ['rfc3339', '2026-03-01T12:05:00Z', us('2026-03-01T12:05:00Z')],
  ['rfc3339', '2026-03-01T12:05:00.000001Z', tooFar],
  ['rfc3339', '2026-03-01T12:05:00+01:00', us('2026-03-01T11:05:00Z')],
  ['rfc3339', '2027-01-01T00:00:00Z', tooFar],
  ['rfc3339', '2255-06-05T23:47:34.740991Z', tooFar],
  ['rfc3339', '2255-06-05T23:47:34.740993Z', tooFar],
  ['rfc3339', '9999-12-31T23:59:59.999999Z', tooFar],
  ['rfc3339', '9999-12-31T23:59:59Z', tooFar],
  ['rfc3339', '1970-01-01T00:00:00+00:01', tooOld],
  ['rfc3339', '1969-12-31T23:59:59.999999Z', tooOld],
  ['rfc3339', '1900-01-01T00:00:00Z', tooOld],
  ['rfc3339', '0001-01-01T00:00:00Z', tooOld],
  ['rfc3339', '0000-01-01T00:00:00Z', 'a year from 0001, not 0000'],
  ['rfc3339', '10000-01-01T00:00:00Z', noInstant],
  ['rfc3339', '-0001-01-01T00:00:00Z', noInstant],
  ['rfc3339', '2026-02-29T00:00:00Z', '01 to 28 in 2026-02, not 29'],
  ['rfc3339', '2100-02-29T00:00:00Z', '01 to 28 in 2100-02, not 29'],
  ['rfc3339', '2026-04-31T00:00:00Z', ', not 31'],
  ['rfc3339', '2026-00-10T00:00:00Z', 'a month from 01 to 12, not 00'],
  ['rfc3339', '2026-13-10T00:00:00Z', 'a month from 01 to 12, not 13'],
  ['rfc3339', '2026-01-00T00:00:00Z', ', not 00'],
  ['rfc3339', '2026-01-31T24:00:00Z', 'an hour from 00 to 23, not 24'],
  ['rfc3339', '2026-01-31T23:60:00Z', 'a minute from 00 to 59, not 60'],
  ['rfc3339', '2016-12-31T23:59:60Z', 'is a leap second'],
  ['rfc3339', '2026-01-31T23:59:61Z', 'a second from 00 to 59, not 61'],
  ['rfc3339', '2026-01-31 23:59:59Z', 'a T between'],
  ['rfc3339', '2026-01-31_23:59:59Z', 'a T between'],
  ['rfc3339', ' 2026-01-31T23:59:59Z', noInstant],
  ['rfc3339', '2026-01-31T23:59:59Z ', badZone],
  ['rfc3339', '2026-01-31T23:59:59 Z', badZone],
  ['rfc3339', '2026-01-31T23:59:59,5Z', badZone],
  ['rfc3339', '2026-01-31T23:59:59.Z', 'must have digits after the point'],
  ['rfc3339', '2026-01-31T23:59:59', 'has no time zone'],
  ['rfc3339', '2026-01-31T23:59:59.5', 'has no time zone'],
  ['rfc3339', '2026-01-31T23:59:59+0100', badZone],
  ['rfc3339', '2026-01-31T23:59:59+01', badZone],
  ['rfc3339', '2026-01-31T23:59:59+24:00', badZone],
  ['rfc3339', '2026-01-31T23:59:59+01:60', badZone],
  ['rfc3339', '2026-01-31T23:59:59UTC', badZone],
  ['rfc3339', '2026-01-31T23:59:59Europe/Berlin', badZone],
  ['rfc3339', '2026-01-31T23:59:59ZZ', badZone],
  ['rfc3339', '2026-01-31T23:59Z', 'HH:MM:SS'],
  ['rfc3339', '2026-01-31T2:59:59Z', 'HH:MM:SS'],
  ['rfc3339', '2026-01-31', 'a T between'],
  ['rfc3339', '20260131T235959Z', noInstant],
  ['rfc3339', '2026-W05-6T23:59:59Z', noInstant],
  ['rfc3339', '2026-031T23:59:59Z', noInstant],
  ['rfc3339', '31.01.2026 23:59:59', noInstant],
  ['rfc3339', 'Sat, 31 Jan 2026 23:59:59 GMT', noInstant],
  ['rfc3339', '1769903999', noInstant],
  ['rfc3339', '', noInstant],
  ['rfc3339', 1_769_903_999, 'must be a text'],
  ['rfc3339', true, 'must be a text'],
  ['rfc3339', null, 'must be a text'],
  ['rfc3339', ['2026-01-31T23:59:59Z'], 'must be a text'],
  ['rfc3339', { time: '2026-01-31T23:59:59Z' }, 'must be a text'],
]

const numbers: readonly Case[] = [
  ['epoch_s', 0, 0],
  ['epoch_s', -0, 0],
  ['epoch_s', 1_767_225_600, us('2026-01-01T00:00:00Z')],
  ['epoch_s', 1_767_225_600.5, us('2026-01-01T00:00:00.500Z')],
  ['epoch_s', 1_767_225_600.123456, us('2026-01-01T00:00:00.123Z') + 456],
  ['epoch_s', 0.000001, 1],
  ['epoch_s', 1.000001, 1_000_001],
  ['epoch_s', 0.0000019, 1],
  ['epoch_s', 9e-7, 0],
  ['epoch_s', 1e-9, 0],
  ['epoch_s', 1.7672256e9, us('2026-01-01T00:00:00Z')],
  ['epoch_s', 1_767_225_600.1234567, us('2026-01-01T00:00:00.123Z') + 456],
  ['epoch_s', 1_000_000_000.9999999, 1_000_000_000_999_999],
  ['epoch_s', -1, tooOld],
  ['epoch_s', -0.5, tooOld],
  ['epoch_s', -1e-9, tooOld],
  ['epoch_s', 1_767_225_600_000, 'is beyond the year 2255'],
  ['epoch_s', 2 ** 53, 'is beyond the year 2255'],
  ['epoch_s', 1e300, 'is beyond the year 2255'],
  ['epoch_s', 1_772_366_700, us('2026-03-01T12:05:00Z')],
  ['epoch_s', 1_772_366_701, tooFar],
  ['epoch_ms', 1_767_225_600_123, us('2026-01-01T00:00:00.123Z')],
  ['epoch_ms', 1_767_225_600_123.456, us('2026-01-01T00:00:00.123Z') + 456],
  ['epoch_ms', 1_767_225_600_123.4568, us('2026-01-01T00:00:00.123Z') + 456],
  ['epoch_ms', 0.9999, 999],
  ['epoch_ms', 1_767_225_600, 1_767_225_600_000],
  ['epoch_ms', -1, tooOld],
  ['epoch_ms', 1e13, 'is beyond the year 2255'],
  ['epoch_us', 1_767_225_600_123_456, us('2026-01-01T00:00:00.123Z') + 456],
  ['epoch_us', 1, 1],
  ['epoch_us', 0.4, 0],
  ['epoch_us', 0.9, 0],
  ['epoch_us', 1.9, 1],
  ['epoch_us', -0.4, tooOld],
  ['epoch_us', -1, tooOld],
  ['epoch_us', 2 ** 53, 'is beyond the year 2255'],
  ['epoch_us', -(2 ** 53), tooOld],
  ['epoch_s', '1767225600', noNumber],
  ['epoch_ms', '1767225600123', noNumber],
  ['epoch_us', '2026-01-01T00:00:00Z', noNumber],
  ['epoch_s', null, noNumber],
  ['epoch_s', true, noNumber],
  ['epoch_s', [1_767_225_600], noNumber],
]

const formats = [
  ['json', (value: unknown) => Buffer.from(JSON.stringify(value))],
  ['ndjson', (value: unknown) => Buffer.from(JSON.stringify(value))],
  ['cbor', (value: unknown) => encodeCbor(value)],
  ['msgpack', (value: unknown) => encodeMsgpack(value)],
] as const

const epochFormats = ['epoch_s', 'epoch_ms', 'epoch_us'] as const

describe.each(formats)('a time in %s', (format, encode) => {
  test.each([...texts, ...numbers])('(%s) %j is %s', (timestampFormat, at, expected) => {
    const [reading] = readingsOf(decoders[format](encode({ at })))
    const outcome = judged(timestampFormat, reading)

    if (typeof expected === 'number') expect(outcome).toBe(expected)
    else expect(outcome).toContain(expected)
  })
})

test('a time is the same one in each format that can say it', () => {
  // Seconds with six decimals are told apart by doubles up to 2^33, long after what is accepted.
  fc.assert(
    fc.property(fc.integer({ min: 0, max: receivedAtUs + futureToleranceUs }), (timestampUs) => {
      const decimal = (places: number) => {
        const unit = 10 ** places
        const fraction = String(timestampUs % unit).padStart(places, '0')
        return `${Math.floor(timestampUs / unit)}.${fraction}`
      }
      const spellings: readonly (readonly [TimestampFormat, string])[] = [
        ['rfc3339', JSON.stringify(formatUs(timestampUs))],
        ['epoch_s', decimal(6)],
        ['epoch_ms', decimal(3)],
        ['epoch_us', String(timestampUs)],
      ]
      for (const [format, text] of spellings) {
        const [reading] = readingsOf(decoders.json(Buffer.from(`{"at":${text}}`)))
        expect(judged(format, reading)).toBe(timestampUs)
      }
      for (const format of epochFormats) {
        expect(timeOf(claimOf(timestampUs, format), format)).toBe(timestampUs)
      }
    }),
  )
})

const verdictOf = (schema: StreamSchema, reading: unknown) => {
  const verdict = judgeOf(schema)(reading, { receivedAtUs, futureToleranceUs })
  return verdict.accepted ? verdict.timestampUs : verdict.message
}

const firstOf = (message: ReturnType<Decoder>) => (message as DecodedMessage).readings[0]

const json = (text: string) => `{"value":1.5,"at":${text}}`

const pack = (bt: string, t: string) => Buffer.from(`[{"bt":${bt},"n":"v","t":${t},"v":1}]`)

const judgedInSeconds = (text: string) => {
  const [reading] = readingsOf(decoders.json(Buffer.from(`{"at":${text}}`)))
  return judged('epoch_s', reading)
}

describe('a time with more digits than microseconds is cut off, and never rounded up', () => {
  const fields = { value: { type: 'number' } } as const
  const schemaOf = (timestampFormat: TimestampFormat): StreamSchema => ({
    fields,
    validation: 'lenient',
    timestampField: 'at',
    timestampFormat,
  })

  const ways: Readonly<Record<string, (text: string, schema: StreamSchema) => unknown>> = {
    'an object': (text) => firstOf(decoders.json(Buffer.from(json(text)))),
    'a list': (text) =>
      (decoders.json(Buffer.from(`[{"at":1},${json(text)}]`)) as DecodedMessage).readings[1],
    'an object that is scanned': (text, schema) => plainScanOf(schema)?.(json(text))?.readings[0],
    'a line': (text) => firstOf(decoders.ndjson(Buffer.from(`\n${json(text)}\n{"at":1}\n`))),
    'a line of CSV': (text, schema) =>
      firstOf(
        csvDecoder({ schema, formatOptions: { columns: ['at', 'value'] } })(
          Buffer.from(`${text},1.5`),
        ),
      ),
    'a row of a file': (text, schema) =>
      importedReading({ payload: Buffer.from(json(text)), share: 1 }, { schema }).reading,
    'a row that an export has written': (text, schema) =>
      importedReading(
        { payload: Buffer.from(`{"streamId":"x",${json(text).slice(1)}`), share: 1 },
        { schema },
      ).reading,
  }

  test.each(Object.keys(ways))('in %s', (name) => {
    const places = { epoch_s: 6, epoch_ms: 3, epoch_us: 0 } as const
    const finer = fc.oneof(
      fc.string({ unit: fc.nat(9).map(String), maxLength: 25 }),
      fc.constantFrom('9', '99', '999999', '5', '4999999999999999999', '0000000000001'),
    )
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: receivedAtUs }),
        finer,
        fc.constantFrom(...epochFormats),
        fc.boolean(),
        (timestampUs, more, format, isScientific) => {
          const unit = 10 ** places[format]
          const decimals = String(timestampUs % unit).padStart(places[format], '0')
          const fraction = (places[format] === 0 ? '' : decimals) + more
          const whole = Math.floor(timestampUs / unit)
          const plain = fraction === '' ? String(whole) : `${whole}.${fraction}`
          const text =
            isScientific && whole > 0
              ? `${String(whole)[0]}.${String(whole).slice(1)}${fraction}0e+${String(whole).length - 1}`
              : plain
          const schema = schemaOf(format)
          const reading = ways[name]?.(text, schema)
          // What is not plain is left to the parser.
          if (reading === undefined && name.endsWith('scanned')) return

          expect(verdictOf(schema, reading), text).toBe(timestampUs)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('as the sum of a base time and a time of SenML', () => {
    const schema: StreamSchema = { ...schemaOf('epoch_us'), fields: {} }
    const decode = senmlJsonDecoder({ schema })
    const timeOfPack = (bt: string, t: string) => {
      const [reading] = readingsOf(decode(pack(bt, t)))
      return (reading as { at: number }).at
    }
    expect(timeOfPack('1.276020076001e+09', '0')).toBe(1_276_020_076_001_000)
    expect(timeOfPack('1767225600', '0.1234569')).toBe(1_767_225_600_123_456)
    expect(timeOfPack('1767225600.1234569', '0')).toBe(1_767_225_600_123_456)
    expect(timeOfPack('1767225600.1', '0.2')).toBe(1_767_225_600_300_000)
    expect(timeOfPack('1767225600.0000009', '0.0000009')).toBe(1_767_225_600_000_001)
    expect(timeOfPack('1767225600', '-0.0000001')).toBe(1_767_225_599_999_999)
  })

  test('also where the digits are very many, or none of them count', () => {
    expect(judgedInSeconds(`1.${'0'.repeat(300_000)}1`)).toBe(1_000_000)
    expect(judgedInSeconds(`0.${'9'.repeat(300_000)}`)).toBe(999_999)
    expect(judgedInSeconds('1e-999999999')).toBe(0)
    expect(judgedInSeconds('0e999999999')).toBe(0)
    expect(judgedInSeconds('-0.0')).toBe(0)
    expect(judgedInSeconds('-1e-30')).toBe(tooOldMessage)
  })
})

const tooOldMessage = 'timestamp_invalid: at times before 1970 are not accepted'

describe('a time that its format knows as one', () => {
  const key = { cbor: 'a1626174', msgpack: '81a26174' }

  test.each([
    ['cbor', 'tag 0', 'c0 74 323032362d30312d30315430303a30303a30305a', us('2026-01-01T00:00:00Z')],
    ['cbor', 'tag 0', 'c0 63 303a30', noInstant],
    ['cbor', 'tag 1', 'c1 1a 6955b900', us('2026-01-01T00:00:00Z')],
    ['cbor', 'tag 1 with a fraction', 'c1 fb 41da556e40100000', us('2026-01-01T00:00:00.250Z')],
    ['cbor', 'tag 1 finer than we count', 'c1 fb 3fffffff79c842fa', 1_999_999],
    ['cbor', 'tag 1 before 1970', 'c1 20', tooOld],
    ['cbor', 'tag 1 just before 1970', 'c1 fb be7ad7f29abcaf48', tooOld],
    ['cbor', 'tag 1 far ahead', 'c1 1b 0000000200000000', tooFar],
    ['msgpack', '32 bits', 'd6 ff 6955b900', us('2026-01-01T00:00:00Z')],
    ['msgpack', '64 bits', 'd7 ff ee6b27fc6955b900', us('2026-01-01T00:00:00.999Z') + 999],
    ['msgpack', '96 bits', 'c7 0c ff 000003e7 000000006955b900', us('2026-01-01T00:00:00Z')],
    ['msgpack', '96 bits before 1970', 'c7 0c ff 00000000 ffffffffffffffff', tooOld],
  ] as const)('in %s (%s) is an instant: %s is %s', (format, _, value, expected) => {
    const [reading] = readingsOf(decoders[format](hex(key[format] + value)))
    const outcome = judged('rfc3339', reading)

    if (typeof expected === 'number') expect(outcome).toBe(expected)
    else expect(outcome).toContain(expected)
  })

  test.each([
    ['cbor', 'c1 1a 6955b900'],
    ['msgpack', 'd6 ff 6955b900'],
  ] as const)('in %s is no number of seconds for a stream that wants one', (format, value) => {
    const [reading] = readingsOf(decoders[format](hex(key[format] + value)))

    expect(judged('epoch_s', reading)).toContain(noNumber)
  })
})

describe('a time in another form names the format that it fits:', () => {
  test.each([
    [1_767_225_600, 'rfc3339', 'epoch_s'],
    [1_767_225_600_000, 'rfc3339', 'epoch_ms'],
    [1_767_225_600_000_000, 'rfc3339', 'epoch_us'],
    ['2026-01-01T00:00:00Z', 'epoch_s', 'rfc3339'],
  ] as const)('%s for %s, which is %s', (value, format, fit) => {
    expect(judged(format, { at: value })).toContain(`timestampFormat ${fit}`)
  })

  test.each([7, true, 'noon'])('%s fits none', (value) => {
    expect(judged('rfc3339', { at: value })).not.toContain('timestampFormat')
  })
})
