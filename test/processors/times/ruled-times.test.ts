import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeJson } from '../../../processors/decode-json.ts'
import { judgeOf } from '../../../processors/index.ts'
import { plainScanOf } from '../../../processors/scan.ts'
import { claimOf, timeReaderOf } from '../../../processors/timestamp.ts'
import { formatUs } from '../../../src/core/time.ts'
import {
  futureToleranceUs,
  judged,
  type Ruled,
  receivedAtUs,
  schemaOf,
} from '../../support/judged-times.ts'

const berlin = 'Europe/Berlin'

describe('times that real sources send', () => {
  test.each<[string, Ruled, string, string]>([
    [
      'Tasmota',
      { format: 'local', zone: berlin, field: 'Time' },
      '{"Time":"2026-01-31T09:59:58"}',
      '2026-01-31T08:59:58.000000Z',
    ],
    [
      'Shelly',
      { format: 'epoch_s', field: 'ts' },
      '{"ts":1769853598.23}',
      '2026-01-31T09:59:58.230000Z',
    ],
    [
      'Shelly, within',
      { format: 'epoch_s', field: 'params.ts' },
      '{"params":{"ts":1769853598.23}}',
      '2026-01-31T09:59:58.230000Z',
    ],
    [
      'Ruuvi',
      { format: 'epoch_s', field: 'ts' },
      '{"ts":"1769853598"}',
      '2026-01-31T09:59:58.000000Z',
    ],
    [
      'The Things Stack',
      { field: 'received_at' },
      '{"received_at":"2026-01-31T09:59:58.123456789Z"}',
      '2026-01-31T09:59:58.123456Z',
    ],
    [
      'zigbee2mqtt, ISO',
      { format: 'local', field: 'last_seen' },
      '{"last_seen":"2026-01-31T10:59:58+01:00"}',
      '2026-01-31T09:59:58.000000Z',
    ],
    [
      'zigbee2mqtt, epoch',
      { format: 'epoch_ms', field: 'last_seen' },
      '{"last_seen":1769853598123}',
      '2026-01-31T09:59:58.123000Z',
    ],
    [
      'AWS IoT',
      { format: 'epoch_ms', field: 'timestamp' },
      '{"timestamp":1769853598123}',
      '2026-01-31T09:59:58.123000Z',
    ],
    [
      'Open-Meteo',
      { format: 'local', field: 'time' },
      '{"time":"2026-01-31T10:00"}',
      '2026-01-31T10:00:00.000000Z',
    ],
    [
      'Fronius',
      { field: 'Head.Timestamp' },
      '{"Head":{"Timestamp":"2026-01-31T10:00:00+01:00"}}',
      '2026-01-31T09:00:00.000000Z',
    ],
    [
      'SolarEdge',
      { format: 'local', zone: berlin, field: 'date' },
      '{"date":"2026-01-31 10:00:00"}',
      '2026-01-31T09:00:00.000000Z',
    ],
    [
      'OPC UA',
      { field: 'SourceTimestamp' },
      '{"SourceTimestamp":"2026-01-31T10:00:00.1234567Z"}',
      '2026-01-31T10:00:00.123456Z',
    ],
    [
      'Siemens',
      { format: 'dd.MM.yyyy HH:mm:ss', zone: berlin },
      '{"at":"31.01.2026 10:00:00"}',
      '2026-01-31T09:00:00.000000Z',
    ],
    [
      'Traccar, +00:00',
      { field: 'position.fixTime' },
      '{"position":{"fixTime":"2026-01-31T10:00:00.000+00:00"}}',
      '2026-01-31T10:00:00.000000Z',
    ],
    [
      'Traccar, +0000',
      { format: "yyyy-MM-dd'T'HH:mm:ss.SSSXX" },
      '{"at":"2026-01-31T10:00:00.000+0000"}',
      '2026-01-31T10:00:00.000000Z',
    ],
    [
      'OTLP',
      { format: 'epoch_ns', field: 'timeUnixNano' },
      '{"timeUnixNano":"1769853598123456789"}',
      '2026-01-31T09:59:58.123456Z',
    ],
    [
      'a name with a point',
      { format: 'epoch_s', field: "['a.b']" },
      '{"a.b":1769853598}',
      '2026-01-31T09:59:58.000000Z',
    ],
    [
      'a logger of Python',
      { format: 'local' },
      '{"at":"2026-01-31 09:59:58,123"}',
      '2026-01-31T09:59:58.123000Z',
    ],
  ])('%s', (_, rules, text, time) => {
    expect(judged(rules, text)).toBe(time)
  })
})

describe('a time without a zone', () => {
  test.each([
    [berlin, '2026-10-25T02:30:00', '2026-10-25T00:30:00.000000Z'],
    [berlin, '2025-10-26 02:30', '2025-10-26T00:30:00.000000Z'],
    [berlin, '2025-03-30T02:30:00', '2025-03-30T01:30:00.000000Z'],
    ['Australia/Lord_Howe', '2025-04-06T01:45:00', '2025-04-05T14:45:00.000000Z'],
  ])('in %s: %s is %s', (zone, text, time) => {
    const us = timeReaderOf({ timestampFormat: 'local', time: { isRequired: true, zone } })({
      value: text,
    })
    expect(typeof us === 'number' && formatUs(us)).toBe(time)
  })

  test.each([
    '2026-01-31',
    '2026-01-31T',
    '2026-01-31T10',
    '2026-01-31T10:00:00 +01:00',
    '2026-01-31T10:00:00.',
    '31.01.2026 10:00',
    '2026-02-30T10:00',
    '2026-01-31T24:00:00',
    '2026-01-31T10:00:60',
    '2026-01-31T10:00:00+24:00',
    '',
  ])('is none in %j', (at) => {
    expect(judged({ format: 'local' }, JSON.stringify({ at }))).toMatch(/^timestamp_invalid: at /)
  })

  test('is the first time that clocks in its zone show it', () => {
    const zones = ['UTC', berlin, 'America/New_York', 'Asia/Kathmandu', 'Pacific/Apia']
    const past = fc.integer({ min: 0, max: Date.UTC(2037, 0, 1) / 1_000 })
    fc.assert(
      fc.property(
        past,
        fc.constantFrom(...zones),
        fc.constantFrom('T', ' '),
        (seconds, zone, between) => {
          const shown = shownAt(seconds, zone)
          const read = timeReaderOf({ timestampFormat: 'local', time: { isRequired: true, zone } })
          const us = read({ value: shown.replace(' ', between) })
          // Clocks may have shown it before 1970, too.
          if (typeof us !== 'number') return
          expect(us / 1_000_000).toBeLessThanOrEqual(seconds)
          expect(shownAt(us / 1_000_000, zone)).toBe(shown)
        },
      ),
    )
  })
})

function shownAt(seconds: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('sv', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  return format.format(seconds * 1_000)
}

describe('a reading without a time', () => {
  const missing = 'timestamp_missing: at is missing: the stream takes no reading without its time'

  test('is refused where one is required, alone among others', () => {
    expect(judged({}, '{"value":1}')).toBe(missing)
    expect(judged({ field: 'a.at' }, '{"a":{"at2":1}}')).toContain('timestamp_missing: a.at')
    const judge = judgeOf(schemaOf({}))
    const batch = [{ at: '2026-01-31T10:00:00Z' }, { value: 1 }, { at: '2026-01-31T10:00:01Z' }]
    const verdicts = batch.map((one) => judge(one, { receivedAtUs, futureToleranceUs }))
    expect(verdicts.map(({ accepted }) => accepted)).toEqual([true, false, true])
    expect(verdicts[1]).toMatchObject({ reason: 'timestamp_missing', details: [{ path: 'at' }] })
  })

  test('has that of its receipt where none is required', () => {
    expect(judged({ isRequired: false }, '{"value":1}')).toBe(formatUs(receivedAtUs))
  })

  test('is none that has null as its time', () => {
    expect(judged({ isRequired: false }, '{"at":null}')).toContain('timestamp_invalid: at must be')
  })
})

const rulesOf: fc.Arbitrary<Ruled> = fc.record(
  {
    format: fc.constantFrom(
      'rfc3339',
      'epoch_s',
      'epoch_ms',
      'epoch_ns',
      'local',
      'yyyy-MM-dd[ HH:mm]',
    ),
    field: fc.constantFrom('at', "['at']", 'at.at', '$'),
    isRequired: fc.boolean(),
    zone: fc.constantFrom('UTC', berlin),
    minUs: fc.constantFrom(0, Date.UTC(2026, 0, 1) * 1_000),
    offset: fc.constantFrom({ path: 'value', unit: 's' as const }),
  },
  { requiredKeys: ['format', 'field', 'isRequired'] },
)

const timeText = fc.constantFrom(
  '"2026-01-31T10:00:00Z"',
  '"2026-01-31 10:00"',
  '"2026-01-31"',
  '1769853598',
  '"1769853598"',
  '1769853598.5',
  '1769853598123',
  '"1769853598123456789"',
  '0',
  '-1',
  '12',
  '"12"',
  'null',
  'true',
  '{}',
  '{"at":1769853598}',
  '""',
  '1769853598.12345678901',
  '"\\u0031"',
  '1e9',
  '2000000000',
  '"2027-01-01T00:00:00Z"',
)
const member = fc.oneof(
  timeText.map((text) => `"at":${text}`),
  fc.constantFrom('"value":1', '"value":-0.5', '"other":1'),
)
const message = fc.oneof(
  fc.array(member, { maxLength: 3 }).map((members) => `{${members.join(',')}}`),
  fc
    .array(fc.array(member, { maxLength: 3 }), { minLength: 1, maxLength: 3 })
    .map((all) => `[${all.map((members) => `{${members.join(',')}}`).join(',')}]`),
)

describe('any rules for times', () => {
  test.each(['strict', 'lenient'] as const)(
    'mean the same with a scan, in a %s stream',
    (validation) => {
      fc.assert(
        fc.property(rulesOf, message, (rules, text) => {
          const schema = { ...schemaOf(rules), validation }
          const judge = judgeOf(schema)
          const outcome = (scan: ReturnType<typeof plainScanOf>) => {
            const decoded = decodeJson(Buffer.from(text), scan)
            if (!decoded.ok) return decoded
            return decoded.readings.map((one) => judge(one, { receivedAtUs, futureToleranceUs }))
          }
          expect(outcome(plainScanOf(schema))).toEqual(outcome(undefined))
        }),
        { numRuns: 2_000 },
      )
    },
  )

  test('read again what was written as a claim', () => {
    const formats = [
      'rfc3339',
      'epoch_s',
      'epoch_ms',
      'epoch_us',
      'epoch_ns',
      'local',
      'dd.MM.yyyy HH:mm',
      'yyyyMMddHHmmss',
    ]
    const us = fc.integer({ min: 0, max: Date.UTC(2199, 0, 1) * 1_000 })
    fc.assert(
      fc.property(
        us,
        fc.constantFrom(...formats),
        fc.constantFrom('UTC', berlin),
        (at, format, zone) => {
          const read = timeReaderOf({
            timestampFormat: format,
            time: { isRequired: true, zone, minUs: 0 },
          })
          expect(read({ value: claimOf(at, format) })).toBe(at)
        },
      ),
    )
  })
})
