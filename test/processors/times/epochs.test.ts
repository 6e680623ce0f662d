import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeJson } from '../../../processors/decode-json.ts'
import { mapperOf } from '../../../processors/mapping/mapper.ts'
import { timeReaderOf } from '../../../processors/timestamp.ts'
import type { TimestampFormat } from '../../../src/contracts/stream-schema.ts'
import { judged, receivedAtUs, schemaOf } from '../../support/judged-times.ts'

describe('an epoch', () => {
  const places = { epoch_s: 0, epoch_ms: 3, epoch_us: 6, epoch_ns: 9 } as const
  const formats = ['epoch_s', 'epoch_ms', 'epoch_us', 'epoch_ns'] as const

  test('as a text is read by all of its digits', () => {
    const digits = fc.string({ unit: fc.nat(9).map(String), maxLength: 12 })
    const us = fc.integer({ min: Date.UTC(1971, 0, 1) * 1_000, max: receivedAtUs })
    fc.assert(
      fc.property(us, digits, fc.constantFrom(...formats), (timestampUs, finer, format) => {
        const all = `${timestampUs}${finer.padEnd(3, '0')}`
        const whole = all.slice(0, all.length - (6 + Math.max(3, finer.length) - places[format]))
        const fraction = all.slice(whole.length)
        const text = fraction === '' ? whole : `${whole}.${fraction}`
        const read = timeReaderOf({ timestampFormat: format, time: { isRequired: true } })
        expect(read({ value: text })).toBe(timestampUs)
        expect(read({ value: Number(text), source: text })).toBe(timestampUs)
      }),
    )
  })

  test.each([
    '',
    ' 1769853598',
    '1769853598 ',
    '+1769853598',
    '1,769853598e9',
    '0x10',
    'NaN',
    '1e',
    '.5',
    '1.',
    '2026-01-31T10:00:00Z',
  ])('is none in %j', (at) => {
    expect(judged({ format: 'epoch_s' }, JSON.stringify({ at }))).toBe(
      'timestamp_invalid: at must be a number of units since 1970, or a text that is one',
    )
  })

  test.each<[TimestampFormat, string, string]>([
    [
      'epoch_ms',
      '1769853598',
      'falls into January 1970 as epoch_ms; epoch_s would be 2026-01-31T09:59:58.000000Z',
    ],
    [
      'epoch_ms',
      '"1769853598.5"',
      'falls into January 1970 as epoch_ms; epoch_s would be 2026-01-31T09:59:58.500000Z',
    ],
    [
      'epoch_s',
      '1769853598123',
      'is behind the year 2200 as epoch_s; epoch_ms would be 2026-01-31T09:59:58.123000Z',
    ],
    [
      'epoch_us',
      '1769853598123',
      'falls into January 1970 as epoch_us; epoch_ms would be 2026-01-31T09:59:58.123000Z',
    ],
    [
      'epoch_ms',
      '1769853598123456',
      'is behind the year 2200 as epoch_ms; epoch_us would be 2026-01-31T09:59:58.123456Z',
    ],
    [
      'epoch_s',
      '"1769853598123456789"',
      'is behind the year 2200 as epoch_s; epoch_ns would be 2026-01-31T09:59:58.123456Z',
    ],
    ['epoch_s', '12', 'falls into January 1970 as epoch_s; it fits no other epoch format'],
    ['epoch_s', '0', 'falls into January 1970 as epoch_s; it fits no other epoch format'],
    ['epoch_s', '1e300', 'is behind the year 2200 as epoch_s; it fits no other epoch format'],
  ])('in %s of %s is implausible', (format, at, problem) => {
    expect(judged({ format }, `{"at":${at}}`)).toBe(`timestamp_implausible: at ${problem}`)
  })

  test('is implausible in the units of another format only, from 2001 to 2050', () => {
    const seconds = fc.integer({
      min: Date.UTC(2001, 8, 9) / 1_000,
      max: Date.UTC(2050, 0, 1) / 1_000,
    })
    fc.assert(
      fc.property(
        seconds,
        fc.constantFrom(...formats),
        fc.constantFrom(...formats),
        (at, sent, said) => {
          const value = `${at}${'0'.repeat(places[sent])}`
          const found = timeReaderOf({ timestampFormat: said, time: { isRequired: true } })({
            value,
          })
          if (sent === said) expect(found).toBe(at * 1_000_000)
          else
            expect(found).toMatchObject({
              isImplausible: true,
              problem: expect.stringContaining(`${sent} would be`),
            })
        },
      ),
    )
  })

  test('may be in January 1970 where the stream allows it', () => {
    expect(judged({ format: 'epoch_s', minUs: 0 }, '{"at":12}')).toBe('1970-01-01T00:00:12.000000Z')
    expect(judged({ format: 'epoch_s', minUs: 0 }, '{"at":-1}')).toBe(
      'timestamp_invalid: at times before 1970 are not accepted',
    )
  })

  test('before the first time that the stream allows is implausible, in every format', () => {
    const minUs = Date.UTC(2020, 0, 1) * 1_000
    const problem =
      'timestamp_implausible: at is before 2020-01-01T00:00:00.000000Z, the timestampMin'
    expect(judged({ minUs }, '{"at":"2000-01-01T00:00:00Z"}')).toBe(problem)
    expect(judged({ minUs, format: 'local' }, '{"at":"1970-01-01T00:00:10"}')).toBe(problem)
    expect(judged({ minUs, format: 'epoch_s' }, '{"at":946684800}')).toMatch(
      /^timestamp_implausible/,
    )
    expect(judged({ minUs }, '{"at":"2020-01-01T00:00:00Z"}')).toBe('2020-01-01T00:00:00.000000Z')
  })
})

describe('a base and an offset', () => {
  const offset = { path: 'ms', unit: 'ms' } as const

  test.each<[TimestampFormat, string, string]>([
    ['epoch_s', '{"at":1769853598,"ms":123}', '2026-01-31T09:59:58.123000Z'],
    ['epoch_s', '{"at":1769853598,"ms":-1.5}', '2026-01-31T09:59:57.998500Z'],
    ['epoch_s', '{"at":1769853598.0000009,"ms":0.0001}', '2026-01-31T09:59:58.000001Z'],
    ['epoch_s', '{"at":"1769853598","ms":"123"}', '2026-01-31T09:59:58.123000Z'],
    ['epoch_ns', '{"at":"1769853598000000999","ms":0.000001}', '2026-01-31T09:59:58.000001Z'],
    ['rfc3339', '{"at":"2026-01-31T09:59:58.0000009Z","ms":0.0001}', '2026-01-31T09:59:58.000001Z'],
    ['local', '{"at":"2026-01-31 09:59","ms":58000}', '2026-01-31T09:59:58.000000Z'],
    ['dd.MM.yyyy', '{"at":"31.01.2026","ms":35998000}', '2026-01-31T09:59:58.000000Z'],
    ['epoch_s', '{"at":1769853598}', 'timestamp_invalid: at needs ms, which is added to it'],
    [
      'epoch_s',
      '{"at":1769853598,"ms":null}',
      'timestamp_invalid: at needs a number at ms, which is added to it',
    ],
    [
      'epoch_s',
      '{"at":1769853598,"ms":"soon"}',
      'timestamp_invalid: at needs a number at ms, which is added to it',
    ],
    [
      'epoch_s',
      '{"ms":1}',
      'timestamp_missing: at is missing: the stream takes no reading without its time',
    ],
    [
      'epoch_ms',
      '{"at":1769853598,"ms":0}',
      'timestamp_implausible: at falls into January 1970 as epoch_ms; epoch_s would be 2026-01-31T09:59:58.000000Z',
    ],
  ])('in %s: %s', (format, text, expected) => {
    expect(judged({ format, offset }, text)).toBe(expected)
  })

  test('are read by all of their digits where a mapping finds them', () => {
    const path = { path: 'more.ms', unit: 'ms' } as const
    const schema = schemaOf({ format: 'epoch_s', field: 'base.s', offset: path })
    // The double next to the second number is a microsecond more than its digits.
    const text = '{"base":{"s":1769853598},"more":{"ms":123456789.4569999999999999}}'
    const decoded = decodeJson(Buffer.from(text))
    const found = decoded.ok ? mapperOf(schema)?.(decoded, {}) : undefined
    expect(found?.readings).toMatchObject([{ claimedUs: 1_769_977_054_789_456 }])
  })

  test('are added up by their digits, whatever the units', () => {
    const units = [
      ['s', 0],
      ['ms', 3],
      ['us', 6],
      ['ns', 9],
    ] as const
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1_000_000_000_000_000_000n, max: 1_700_000_000_000_000_000n }),
        fc.bigInt({ min: -900_000_000_000_000_000n, max: 10_000_000_000_000_000n }),
        fc.constantFrom(...units),
        (base, added, [unit, behind]) => {
          const text = decimal(added, 9 - behind)
          const time = { isRequired: true, offset: { path: 'x', unit }, minUs: 0 }
          const read = timeReaderOf({ timestampFormat: 'epoch_ns', time })
          expect(read({ value: String(base), offset: text })).toBe(Number((base + added) / 1_000n))
        },
      ),
    )
  })
})

/** A count of units with decimals. */
function decimal(nanos: bigint, places: number): string {
  const digits = String(nanos < 0n ? -nanos : nanos).padStart(places + 1, '0')
  const [whole, rest] = [
    digits.slice(0, digits.length - places),
    digits.slice(digits.length - places),
  ]
  return `${nanos < 0n ? '-' : ''}${whole}${rest === '' ? '' : `.${rest}`}`
}
