import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readingsPerMessageMax } from '../../processors/decode-batch.ts'
import { decodeJson } from '../../processors/decode-json.ts'
import { judgeOf } from '../../processors/index.ts'
import { plainScanOf, ScannedReading, scanOf, worthwhile } from '../../processors/scan.ts'
import type { FieldMap, StreamSchema } from '../../src/contracts/stream-schema.ts'

const fields: FieldMap = {
  level: { type: 'number', min: -50, max: 1e20 },
  steps: { type: 'integer' },
  on: { type: 'boolean' },
  label: { type: 'string', enum: ['a', 'b', 'é', '"'] },
  note: { type: 'string' },
  grade: { type: 'number', enum: [0, 1.5, 2] },
  at: { type: 'datetime' },
  ['constructor']: { type: 'string' as const },
}

function schemaWith(changes: Partial<StreamSchema> = {}): StreamSchema {
  return {
    fields,
    validation: 'lenient',
    timestampField: 'timestamp',
    timestampFormat: 'rfc3339',
    ...changes,
  }
}

const receipt = { receivedAtUs: 1_790_000_000_000_000, futureToleranceUs: 300_000_000 }

/** What becomes of a text, with the scan or without it. */
function outcome(text: string, schema: StreamSchema, withScan: boolean) {
  const scan = withScan ? plainScanOf(schema) : undefined
  const decoded = decodeJson(Buffer.from(text), scan)
  if (!decoded.ok) return decoded
  const judge = judgeOf(schema)
  const verdicts = decoded.readings.map((reading) => judge(reading, receipt))
  return { verdicts, isBatch: decoded.isBatch }
}

function isScanned(text: string, schema = schemaWith()): boolean {
  const scanned = plainScanOf(schema)?.(text)
  return scanned?.readings.every((one) => one instanceof ScannedReading) === true
}

describe('a plain reading', () => {
  test.each([
    '{}',
    ' { } ',
    '{"level":1,"steps":2,"on":true,"label":"a","note":"n","at":"2026-01-01T00:00:00Z"}',
    '{"timestamp":"2026-01-01T00:00:00.5+02:00","level":-21.50}',
    '{"level" : 0.000001 ,\n"note" : "" }',
    '[{"level":1},{"level":0.1,"constructor":"c"}]',
    '{"level":12.3456789012345678}',
    '{"note":"grüß \u{1F600} \u2028"}',
  ])('is not parsed: %s', (text) => {
    expect(isScanned(text)).toBe(true)
    expect(outcome(text, schemaWith(), true)).toEqual(outcome(text, schemaWith(), false))
  })

  test('is one in a strict stream, too', () => {
    expect(isScanned('{"level":1}', schemaWith({ validation: 'strict' }))).toBe(true)
  })

  test.each([
    ['epoch_s', '{"timestamp":1.5}'],
    ['epoch_ms', '{"timestamp":1700000000123}'],
    ['epoch_us', '{"timestamp":1700000000123456}'],
  ] as const)('tells its time in %s', (timestampFormat, text) => {
    const schema = schemaWith({ timestampFormat })
    expect(outcome(text, schema, true)).toEqual(outcome(text, schema, false))
  })
})

function batchOf(count: number): string {
  return `[${Array(count).fill('{}').join(',')}]`
}

describe('everything else is parsed', () => {
  test.each([
    ['nothing', ''],
    ['white space', ' '],
    ['an empty batch', '[]'],
    ['a batch with a comma too many', '[{},]'],
    ['a member with a comma too many', '{"level":1,}'],
    ['two objects', '{}{}'],
    ['an unfinished object', '{"level":1'],
    ['an unfinished text', '{"note":"abc'],
    ['an unknown field', '{"other":1}'],
    ['a key twice', '{"level":1,"level":1}'],
    ['a time twice', '{"timestamp":"2026-01-01T00:00:00Z","timestamp":"2026-01-01T00:00:00Z"}'],
    ['an escape', '{"note":"\\u0041"}'],
    ['an escaped key', '{"\\u006eote":"a"}'],
    ['a control character', '{"note":"a\tb"}'],
    ['a value out of range', '{"level":-51}'],
    ['a value outside of the enumeration', '{"label":"c"}'],
    ['a number outside of the enumeration', '{"grade":1}'],
    ['another type', '{"level":"1"}'],
    ['a nested object', '{"level":{"level":1}}'],
    ['an array', '{"note":["a"]}'],
    ['null', '{"note":null}'],
    ['an exponent', '{"level":1e3}'],
    ['a leading zero', '{"level":01}'],
    ['a plus', '{"level":+1}'],
    ['a lonely minus', '{"level":-}'],
    ['a lonely point', '{"level":1.}'],
    ['no digit before the point', '{"level":.5}'],
    ['a decimal in an integer', '{"steps":1.0}'],
    ['a long integer', '{"level":1234567890123456}'],
    ['a time that is none', '{"at":"2026-01-01"}'],
    ['a time before 1970', '{"timestamp":"1969-01-01T00:00:00Z"}'],
    ['a byte order mark', '\uFEFF{}'],
    ['a word', '{"on":truex}'],
  ])('%s', (_, text) => {
    expect(isScanned(text)).toBe(false)
    expect(outcome(text, schemaWith(), true)).toEqual(outcome(text, schemaWith(), false))
  })

  test('a schema with more than plain fields has no scan', () => {
    expect(scanOf(schemaWith({ fields: { list: { type: 'array' } } }))).toBeUndefined()
    expect(scanOf(schemaWith({ timestampField: 'at' }))).toBeUndefined()
  })

  test('a reading without a required field', () => {
    const required = schemaWith({ fields: { level: { type: 'number', required: true } } })
    expect(isScanned('{}', required)).toBe(false)
    expect(isScanned('{"level":1}', required)).toBe(true)
  })

  test('a batch with too many readings', () => {
    expect(isScanned(batchOf(readingsPerMessageMax))).toBe(true)
    expect(isScanned(batchOf(readingsPerMessageMax + 1))).toBe(false)
  })
})

describe('a scan that finds nothing', () => {
  test('looks only now and then, and always again after it has found something', () => {
    const looked: boolean[] = []
    let isPlain = false
    const scan = worthwhile(() => {
      looked.push(isPlain)
      return isPlain ? { readings: [], isBatch: true } : undefined
    })
    for (let message = 0; message < 205; message++) scan('')
    expect(looked).toHaveLength(5)

    isPlain = true
    for (let message = 0; message < 200; message++) scan('')
    expect(looked.filter(Boolean).length).toBeGreaterThan(90)
  })

  test('is shared by streams of one schema', () => {
    expect(scanOf(schemaWith())).toBe(scanOf(schemaWith()))
    expect(scanOf(schemaWith())).not.toBe(scanOf(schemaWith({ validation: 'strict' })))
  })
})

const numberText = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer().map(String),
  fc
    .tuple(fc.integer({ min: -1000, max: 1000 }), fc.stringMatching(/^\d{1,20}$/))
    .map(([whole, decimals]) => `${whole}.${decimals}`),
  fc.stringMatching(/^-?\d{1,17}(\.\d{1,17})?([eE][+-]?\d{1,3})?$/),
  fc.constantFrom('-0', '-0.0', '0.0', '0.0000001', '0.000001', '9007199254740993', '1e400'),
)
const valueText = fc.oneof(
  numberText,
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  fc.constantFrom('"a"', '"é"', 'true', 'false', 'null', '[]', '"2026-02-29T00:00:00Z"'),
  fc.constantFrom('"2026-01-01T00:00:00.1234567Z"', '"2026-01-01t00:00:00+23:59"', '1700000000'),
)
const space = fc.constantFrom('', '', '', ' ', '\n', '\t\r')
const memberText = fc
  .tuple(fc.constantFrom(...Object.keys(fields), 'timestamp', 'other'), space, space, valueText)
  .map(([key, before, after, value]) => `"${key}"${before}:${after}${value}${before}`)
const readingText = fc
  .tuple(fc.array(memberText, { maxLength: 9 }), space)
  .map(([members, before]) => `{${before}${members.join(`,${before}`)}}`)
const messageText = fc.oneof(
  readingText,
  fc.array(readingText, { maxLength: 4 }).map((readings) => `[${readings.join(', ')}]`),
)

describe('any message', () => {
  test.each(['strict', 'lenient'] as const)('of a %s stream is judged the same', (validation) => {
    const formats = fc.constantFrom('rfc3339', 'epoch_s', 'epoch_ms', 'epoch_us')
    fc.assert(
      fc.property(messageText, formats, (text, timestampFormat) => {
        const schema = schemaWith({ validation, timestampFormat })
        expect(outcome(text, schema, true)).toEqual(outcome(text, schema, false))
      }),
      { numRuns: 3_000 },
    )
  })

  test('has its numbers in one spelling', () => {
    fc.assert(
      fc.property(numberText, (number) => {
        const text = `{"level":${number}}`
        const schema = schemaWith({ fields: { level: { type: 'number' } } })
        expect(outcome(text, schema, true)).toEqual(outcome(text, schema, false))
      }),
      { numRuns: 5_000 },
    )
  })
})
