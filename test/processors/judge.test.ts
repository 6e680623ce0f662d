import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judgeOf } from '../../processors/index.ts'
import type { AcceptedReading, Verdict } from '../../src/contracts/reading.ts'
import type { FieldMap, StreamSchema } from '../../src/contracts/stream-schema.ts'
import { parseRfc3339 } from '../../src/core/time.ts'

const receivedAtUs = parseRfc3339('2026-03-01T12:00:00Z') as number
const futureToleranceUs = 300_000_000
const receipt = { receivedAtUs, futureToleranceUs }

function schema(overrides: Partial<StreamSchema> = {}): StreamSchema {
  return {
    fields: { level: { type: 'number' } },
    validation: 'lenient',
    timestampField: 'timestamp',
    timestampFormat: 'rfc3339',
    ...overrides,
  }
}

/** The verdict on a reading, given as JSON text or as a value. */
function judged(reading: unknown, overrides: Partial<StreamSchema> = {}): Verdict {
  const value: unknown = typeof reading === 'string' ? JSON.parse(reading) : reading
  return judgeOf(schema(overrides))(value, receipt)
}

function accepted(reading: unknown, overrides: Partial<StreamSchema> = {}): AcceptedReading {
  const verdict = judged(reading, overrides)
  if (!('values' in verdict)) throw new Error(JSON.stringify(verdict))
  return verdict
}

const nested = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

describe('shape', () => {
  test.each(['1', '"text"', 'true', 'null', '[]', '[{}]'])('refuses %s: no object', (text) => {
    expect(judgeOf(schema())(JSON.parse(text), receipt)).toMatchObject({
      accepted: false,
      reason: 'malformed',
    })
  })

  test('takes 32 levels of nesting, and not one more', () => {
    expect(judged(nested(32)).accepted).toBe(true)
    expect(judged(nested(33))).toMatchObject({ accepted: false, reason: 'malformed' })
  })

  test('refuses a reading that breaks the schema with its details and the time it claims', () => {
    expect(judged('{"timestamp":"1970-01-01T00:00:01Z","level":"high"}')).toEqual({
      accepted: false,
      reason: 'schema_mismatch',
      message: 'level must be number',
      details: [{ path: 'level', message: 'must be number' }],
      timestampUs: 1_000_000,
    })
  })

  test.each([
    ['a declared number', '{"level":1e400}', {}],
    ['an unknown field', '{"colour":-1e400}', {}],
    ['a member of an unknown field', '{"colour":{"red":[1e400]}}', {}],
    ['an array of anything', '{"list":[1e400]}', { list: { type: 'array' } }],
    ['an object of anything', '{"object":{"a":1e400}}', { object: { type: 'object' } }],
  ] as const)('refuses 1e400 as %s: it is not finite', (_, text, fields) => {
    expect(judged(text, { fields: { level: { type: 'number' }, ...fields } }).accepted).toBe(false)
  })
})

describe('time', () => {
  test('without one of its own a reading has its time of receipt', () => {
    expect(accepted('{"level":1}').timestampUs).toBe(receivedAtUs)
  })

  test.each([
    ['rfc3339', '"2026-03-01T12:00:00.000001+01:00"', receivedAtUs - 3_600_000_000 + 1],
    ['rfc3339', '"1970-01-01T00:00:00Z"', 0],
    ['epoch_s', '1700000000', 1_700_000_000_000_000],
    ['epoch_s', '1700000000.123456', 1_700_000_000_123_456],
    ['epoch_ms', '1700000000123', 1_700_000_000_123_000],
    ['epoch_ms', '1700000000123.456', 1_700_000_000_123_456],
    ['epoch_us', '1700000000123456', 1_700_000_000_123_456],
    ['epoch_us', '0', 0],
  ] as const)('in the format %s %s is understood', (timestampFormat, text, expectedUs) => {
    const reading = `{"timestamp":${text}}`

    expect(accepted(reading, { timestampFormat }).timestampUs).toBe(expectedUs)
  })

  test('seconds since the epoch keep their microseconds', () => {
    fc.assert(
      fc.property(fc.nat(4_000_000_000), fc.nat(999_999), (seconds, micros) => {
        const text = `{"timestamp":${seconds}.${String(micros).padStart(6, '0')}}`
        const timestampUs = seconds * 1_000_000 + micros
        const later = { receivedAtUs: timestampUs, futureToleranceUs }
        const judge = judgeOf(schema({ timestampFormat: 'epoch_s' }))

        expect(judge(JSON.parse(text), later)).toMatchObject({ accepted: true, timestampUs })
      }),
    )
  })

  test.each([
    ['rfc3339', 'null'],
    ['rfc3339', '1700000000'],
    ['rfc3339', '""'],
    ['rfc3339', '"2026-03-01T12:00:00"'],
    ['rfc3339', '"1969-12-31T23:59:59.999999Z"'],
    ['epoch_s', 'null'],
    ['epoch_s', '"1700000000"'],
    ['epoch_s', '1e300'],
    ['epoch_ms', '-1'],
    ['epoch_us', '-1'],
    ['epoch_us', '9007199254740994'],
  ] as const)('in the format %s %s is refused', (timestampFormat, text) => {
    expect(judged(`{"timestamp":${text},"level":1}`, { timestampFormat })).toMatchObject({
      accepted: false,
      reason: 'timestamp_invalid',
      details: [{ path: 'timestamp', message: expect.any(String) }],
      timestampUs: undefined,
    })
  })

  test('may be ahead of the server by the tolerance, and not by a microsecond more', () => {
    const limitUs = receivedAtUs + futureToleranceUs
    const [within, beyond] = [limitUs, limitUs + 1].map((timestamp) =>
      judged({ timestamp }, { timestampFormat: 'epoch_us' }),
    )

    expect(within).toMatchObject({ accepted: true, timestampUs: limitUs })
    expect(beyond).toMatchObject({
      accepted: false,
      reason: 'timestamp_in_future',
      timestampUs: limitUs + 1,
    })
  })

  test('is read from the field that the stream names; any other is an ordinary field', () => {
    const reading = '{"ts":"1970-01-01T00:00:01Z","timestamp":"noon"}'

    expect(accepted(reading, { timestampField: 'ts' })).toMatchObject({
      timestampUs: 1_000_000,
      extra: '{"timestamp":"noon"}',
    })
  })

  test('a time field that the schema declares, too, makes no unknown field disappear', () => {
    const fields: FieldMap = { ts: { type: 'datetime' }, level: { type: 'number' } }
    const time = '"ts":"1970-01-01T00:00:01Z"'
    const overrides = { fields, timestampField: 'ts' }

    expect(accepted(`{${time},"level":1}`, overrides).extra).toBe('')
    expect(accepted(`{${time},"level":1,"colour":2}`, overrides).extra).toBe('{"colour":2}')
  })
})

describe('canonical text', () => {
  test('holds the declared fields apart from the unknown ones', () => {
    const verdict = accepted(
      '{"z":1,"level":2.50,"a":{"c":1,"b":2},"timestamp":"1970-01-01T00:00:00Z"}',
    )

    expect(verdict).toMatchObject({ values: '{"level":2.5}', extra: '{"a":{"b":2,"c":1},"z":1}' })
  })

  test('spells one instant in one way', () => {
    const fields: FieldMap = { at: { type: 'datetime' } }

    expect(accepted('{"at":"2026-03-01t13:00:00.50+01:00"}', { fields }).values).toBe(
      '{"at":"2026-03-01T12:00:00.500000Z"}',
    )
  })

  test('names the declared fields that are out of range', () => {
    const fields: FieldMap = { level: { type: 'number', max: 10 } }

    expect(accepted('{"level":11}', { fields }).flagged).toEqual(['level'])
    expect(accepted('{"level":10}', { fields }).flagged).toEqual([])
  })

  test.each(['{"level":1,"__proto__":{"isAdmin":true}}', '{"level":1,"x":[{"__proto__":1}]}'])(
    'refuses __proto__ in %s',
    (text) => {
      expect(judged(text)).toMatchObject({
        reason: 'malformed',
        message: expect.stringContaining('__proto__') as string,
      })
    },
  )
})

describe('any JSON value', () => {
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.dictionary(
      fc.constantFrom('timestamp', 'level', 'list', '__proto__', 'constructor', 'x'),
      fc.jsonValue({ maxDepth: 2 }),
      { noNullPrototype: true },
    ),
  )
  const fields: FieldMap = {
    level: { type: 'number', min: 0 },
    list: { type: 'array', items: { type: 'object', fields: { at: { type: 'datetime' } } } },
  }

  test.each(['strict', 'lenient'] as const)('gets a verdict from a %s stream', (validation) => {
    const formats = fc.constantFrom('rfc3339', 'epoch_s', 'epoch_ms', 'epoch_us')
    fc.assert(
      fc.property(anything, formats, (value, timestampFormat) => {
        const verdict = judgeOf(schema({ fields, validation, timestampFormat }))(value, receipt)
        const texts = 'values' in verdict ? [verdict.values, verdict.extra || '{}'] : []

        expect(texts.map((text) => typeof JSON.parse(text))).toEqual(texts.map(() => 'object'))
        expect(verdict.accepted || verdict.message !== '').toBe(true)
      }),
      { numRuns: 300 },
    )
  })
})
