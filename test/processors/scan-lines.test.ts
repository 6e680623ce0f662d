import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lineDecoder } from '../../processors/decode-lines.ts'
import { judgeOf } from '../../processors/index.ts'
import { mapperOf, textMappingOf } from '../../processors/mapping/mapper.ts'
import { ScannedReading } from '../../processors/scan.ts'
import { newLineScan } from '../../processors/scan-lines.ts'
import type { DecodedMessage } from '../../src/contracts/reading.ts'
import type { FieldMap, LinePrecision, StreamSchema } from '../../src/contracts/stream-schema.ts'
import { judgeMessage, keptBy } from '../../src/ingest/pipeline/intake.ts'
import { anyLine, writtenLine } from '../support/written-lines.ts'

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
    time: { isRequired: false },
    ...changes,
  }
}

const receivedAtUs = 1_790_000_000_000_000

/** What becomes of a text, with the scan or without it, and what would be kept of it. */
function outcome(text: string, schema: StreamSchema, withScan: boolean, precision?: LinePrecision) {
  const payload = Buffer.from(text)
  // Each outcome has a scan that knows nothing of other texts.
  const stream = { schema: { ...schema } }
  const decoded = lineDecoder(stream, precision)(payload, withScan ? () => undefined : undefined)
  if (!decoded.ok) return decoded
  const map = withScan ? textMappingOf(schema)?.map : mapperOf(schema)
  const mapped = map?.(decoded, {}) ?? decoded
  const judge = judgeOf(schema)
  const verdicts = judgeMessage(
    { judge } as Parameters<typeof judgeMessage>[0],
    mapped,
    receivedAtUs,
  )
  const kept = mapped.readings.map((_, index) => {
    const { payload: bytes, ...rest } = keptBy(mapped, payload)(index)
    return { ...rest, text: Buffer.from(bytes).toString() }
  })
  return { verdicts, kept, isBatch: decoded.isBatch }
}

function isScanned(text: string, schema = schemaWith()): boolean {
  const decoded = lineDecoder({ schema })(Buffer.from(text), () => undefined)
  return (decoded as DecodedMessage).readings.every((one) => one instanceof ScannedReading)
}

const plain = [
  'm level=1',
  'm level=1 1769853590000000000',
  'm level=1\r\nm level=2\r\n',
  'm,label=a,note=x level=-21.50,steps=2i,on=t 1769853590123456789\n',
  'm level=5u,grade=1.5,on=FALSE,note="grüß \u{1F600}",at="2026-01-01T00:00:00Z"',
  'm,other=1 level=12.3456789012345678,more=1i,another="x",last=true 1769853590000000000',
  'm,at=2026-01-01T00:00:00+01:00 level=0.000001,constructor="c"',
  'm,a=b level=1\nn,a=b level=1\nm,a=c level=2\nm,c=d level=1\nm,a=e level=3',
]

describe('a plain line', () => {
  test.each(plain)('is not made an object: %s', (text) => {
    expect(isScanned(text)).toBe(true)
    expect(outcome(text, schemaWith(), true)).toEqual(outcome(text, schemaWith(), false))
  })

  test('is one in a strict stream, and where what no field reads is dropped', () => {
    const strict = schemaWith({ validation: 'strict' })
    expect(isScanned('m level=1', strict)).toBe(false)
    const all = { ...fields, measurement: { type: 'string' } } as const
    expect(isScanned('m level=1', { ...strict, fields: all })).toBe(true)
    for (const text of plain) {
      const dropping = schemaWith({ extra: 'drop', validation: 'strict' })
      expect(isScanned(text, dropping)).toBe(true)
      expect(outcome(text, dropping, true)).toEqual(outcome(text, dropping, false))
    }
  })

  test('has its fields where paths lead that are names', () => {
    const level: FieldMap = {
      power: { type: 'number', from: 'level' },
      room: { type: 'string', from: "['the room']" },
    }
    const schema = schemaWith({ fields: level, extra: 'drop' })
    expect(isScanned('m,note=x level=1', schema)).toBe(true)
    expect(outcome('m,note=x level=1,power=2', schema, true)).toEqual(
      outcome('m,note=x level=1,power=2', schema, false),
    )
  })
})

describe('everything else is parsed', () => {
  test.each([
    ['a key twice', 'm level=1,level=1'],
    ['a key twice that no field reads', 'm,x=1 level=1,x=1'],
    ['a tag that is called as the time', 'm,timestamp=1 level=1'],
    ['a field that is called as the measurement', 'm measurement="x"'],
    ['an escape', String.raw`m,note=a\ b level=1`],
    ['an escape in a text', String.raw`m note="a\"b"`],
    ['a quote in a tag', 'm,note=" level=1'],
    ['a line feed in a text', 'm note="a\nb"'],
    ['a control character', 'm note="a\tb"'],
    ['a value out of range', 'm level=-51'],
    ['a value outside of the enumeration', 'm label="c"'],
    ['a tag outside of the enumeration', 'm,label=c level=1'],
    ['a number outside of the enumeration', 'm grade=1'],
    ['another type', 'm level="1"'],
    ['a tag for a number', 'm,level=1 note="x"'],
    ['a number for a text', 'm note=1'],
    ['an exponent', 'm level=1e3'],
    ['a leading zero', 'm level=01'],
    ['a decimal in an integer', 'm steps=1.0'],
    ['a decimal with an i', 'm level=1.0i'],
    ['a long integer', 'm level=1234567890123456i'],
    ['a negative number with a u', 'm level=-1u'],
    ['a time that is none', 'm at="2026-01-01"'],
    ['a time before 1970', 'm level=1 -5'],
    ['an implausible time', 'm level=1 1769853590'],
    ['a short time', 'm level=1 15'],
    ['a space more', 'm level=1  1769853590000000000'],
    ['a space behind', 'm level=1 '],
    ['another word for true', 'm on=tRUE'],
    ['nothing in a tag', 'm,note= level=1'],
    ['an equals sign in a tag', 'm,note=a=b level=1'],
    ['no field', 'm,note=a'],
    ['a comma too many', 'm level=1,'],
    ['a comment', '#m level=1\nm level=1e3'],
  ])('%s', (_, text) => {
    expect(isScanned(text)).toBe(false)
    expect(outcome(text, schemaWith(), true)).toEqual(outcome(text, schemaWith(), false))
  })

  test('a line without a required field', () => {
    const required = schemaWith({ fields: { level: { type: 'number', required: true } } })
    expect(isScanned('m note="x"', required)).toBe(false)
    expect(isScanned('m,note=x level=1', required)).toBe(true)
  })

  test.each<[string, Partial<StreamSchema>]>([
    ['more than plain fields', { fields: { list: { type: 'array' } } }],
    ['its time among its fields', { timestampField: 'at' }],
    ['its time elsewhere', { timestampField: 'a.b' }],
    ['an offset of its time', { time: { isRequired: false, offset: { path: 'x', unit: 's' } } }],
    ['readings within a message', { items: [{ path: '$', as: 'list' }] }],
    ['values that stand for none', { values: { missing: ['x'] } }],
    ['texts that are read', { values: { texts: 'typed' } }],
    [
      'two fields of one name',
      { fields: { a: { type: 'number' }, b: { type: 'number', from: 'a' } } },
    ],
    ['a deeper path', { fields: { a: { type: 'number', from: 'b.c' } } }],
    ['nanoseconds by rules of before', { time: undefined, timestampFormat: 'epoch_ns' } as never],
  ])('a schema with %s has no scan', (_, changes) => {
    expect(newLineScan(schemaWith(changes), 'ns')).toBeUndefined()
    expect(newLineScan(schemaWith(), 'ns')).toBeDefined()
  })
})

describe('a scan', () => {
  test('forgets names when there are too many, and learns them again', () => {
    const schema = schemaWith()
    const scan = newLineScan(schema, 'ns')
    const found = Array.from({ length: 1_200 }, (_, index) => scan?.find(`m${index} level=1`, 0))
    expect(found.filter((one) => one !== undefined).length).toBeGreaterThan(1_190)
    expect(found.at(-1)?.values).toBe('{"level":1}')
  })

  test('looks only now and then where lines are not plain', () => {
    const scan = newLineScan(schemaWith(), 'ns')
    for (let line = 0; line < 8; line++) expect(scan?.find('m level=1e3', 0)).toBeUndefined()
    expect(scan?.find('m level=1', 0)).toBeUndefined()
    const found = Array.from({ length: 400 }, () => scan?.find('m level=1', 0))
    expect(found.filter((one) => one !== undefined)).toHaveLength(201)
  })
})

const names = fc.constantFrom(...Object.keys(fields), 'timestamp', 'measurement', 'other', 'x y')
const numberText = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.integer().map(String),
  fc.stringMatching(/^-?\d{1,17}(\.\d{1,17})?([eE][+-]?\d{1,3})?[iu]?$/),
  fc.constantFrom('-0', '-0.0', '0.0', '0.0000001', '0.000001', '9007199254740993i', '-0i', '1u'),
)
const valueText = fc.oneof(
  { weight: 3, arbitrary: numberText },
  fc
    .string({ unit: 'binary', maxLength: 5 })
    .map((text) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`),
  fc.constantFrom('"a"', '"é"', 't', 'true', 'F', 'false', 'no', '', '"', '"2026-02-29T00:00:00Z"'),
  fc.constantFrom('"2026-01-01T00:00:00.1234567Z"', '"2026-01-01t00:00:00+23:59"', '"\\"'),
)
const tagText = fc.constantFrom(
  'a',
  'é',
  'x',
  String.raw`a\ b`,
  '"',
  '',
  '1.5',
  '2026-01-01T00:00:00Z',
)
const timeText = fc.oneof(
  { weight: 3, arbitrary: fc.integer({ min: 1e15, max: 1.78e15 }).map((us) => ` ${us}999`) },
  fc.integer({ min: 0, max: 2_000_000_000 }).map((time) => ` ${time}`),
  fc.constantFrom(
    '',
    '',
    ' ',
    '  1769853590000000000',
    ' 99999999999999999999',
    ' -1',
    ' 1 1',
    ' x',
  ),
)
const lineText = fc
  .tuple(
    fc.constantFrom('m', 'm', 'cpu', '#', '', String.raw`m\,`),
    fc.array(fc.tuple(names, tagText), { maxLength: 3 }),
    fc.array(fc.tuple(names, valueText), { minLength: 1, maxLength: 6 }),
    timeText,
  )
  .map(([of, tags, values, time]) => {
    const head = [of, ...tags.map(([name, value]) => `${name}=${value}`)].join(',')
    return `${head} ${values.map(([name, value]) => `${name}=${value}`).join(',')}${time}`
  })
const line = fc.oneof(
  { weight: 3, arbitrary: lineText },
  anyLine.map((one) => writtenLine(one)),
  fc.constantFrom(...plain),
)
const body = fc
  .tuple(fc.array(line, { minLength: 1, maxLength: 6 }), fc.constantFrom('\n', '\r\n', '\n\n'))
  .map(([lines, end]) => lines.join(end))

describe('any lines', () => {
  test.each<[string, Partial<StreamSchema>]>([
    [
      'a strict stream',
      { validation: 'strict', fields: { ...fields, measurement: { type: 'string' } } },
    ],
    ['a lenient stream', {}],
    ['a stream that drops what no field reads', { extra: 'drop' }],
    [
      'a stream with paths',
      {
        fields: {
          ...fields,
          note: { type: 'string', from: 'label' },
          label: { type: 'number', from: 'x y' },
        },
        extra: 'drop',
      },
    ],
    [
      'a stream with paths that keeps the rest',
      { fields: { level: { type: 'number' }, note: { type: 'string', from: 'label' } } },
    ],
    ['a stream with a first time', { time: { isRequired: true, minUs: 1_600_000_000_000_000 } }],
    ['a stream of before', { time: undefined } as never],
  ])('of %s are judged the same', (_, changes) => {
    const formats = fc.constantFrom(
      'rfc3339',
      'epoch_s',
      'epoch_ms',
      'epoch_us',
      'epoch_ns',
      'local',
    )
    const precisions = fc.constantFrom<LinePrecision | undefined>(
      'ns',
      'us',
      'ms',
      's',
      'm',
      'h',
      undefined,
    )
    fc.assert(
      fc.property(body, formats, precisions, (text, timestampFormat, precision) => {
        const schema = schemaWith({ ...changes, timestampFormat })
        expect(outcome(text, schema, true, precision)).toEqual(
          outcome(text, schema, false, precision),
        )
      }),
      { numRuns: 1_000 },
    )
  })
})
