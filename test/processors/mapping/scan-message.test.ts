import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { decoderOf } from '../../../processors/decode.ts'
import { judgeOf } from '../../../processors/index.ts'
import { mapperOf, textMappingOf } from '../../../processors/mapping/mapper.ts'
import type { DecodedMessage, Mapper, Scan } from '../../../src/contracts/reading.ts'
import type { FieldMap, StreamSchema } from '../../../src/contracts/stream-schema.ts'

const receivedAtUs = Date.UTC(2026, 0, 31, 10) * 1_000

const fields: FieldMap = {
  a: { type: 'number', from: 'g.a', min: -5 },
  b: { type: 'integer', from: 'g.b' },
  c: { type: 'boolean', required: true },
  d: { type: 'string', from: 'deep.er.d', enum: ['x', 'y'] },
}

function schemaWith(rest: Partial<StreamSchema>): StreamSchema {
  return {
    fields,
    validation: 'lenient',
    timestampField: 'at',
    timestampFormat: 'epoch_ms',
    time: { isRequired: true },
    ...rest,
  }
}

const items = [{ path: 'data.list', as: 'list' as const }]
const around: FieldMap = { ...fields, id: { type: 'string', from: '$parent.id' } }
const untimed: FieldMap = { ...around, own: { type: 'number', from: 'at' } }

const schemas: readonly StreamSchema[] = [
  schemaWith({}),
  schemaWith({ validation: 'strict', values: { missing: [null] } }),
  schemaWith({ items }),
  schemaWith({ items, extra: 'drop' }),
  schemaWith({ items, validation: 'strict' }),
  schemaWith({ items, fields: around }),
  schemaWith({
    items,
    fields: untimed,
    timestampField: '$message.sent.at',
    timestampFormat: 'rfc3339',
  }),
]

const timeMs = Date.UTC(2026, 0, 31, 9)

/** Values that are not plain, or not of any field. */
const odd = fc.constantFrom(
  'null',
  '1e3',
  '"\\u0041"',
  '[1]',
  '{"a":1}',
  '1234567890123456',
  '"z"',
  '01',
  '"\\q"',
  '-0',
)

/** Mostly one of these texts. */
function mostly(...texts: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof({ weight: 150, arbitrary: fc.constantFrom(...texts) }, odd)
}

const number = mostly('1', '-2', '2.5', '0.10', '-4.75')
const integer = mostly('1', '-2', '70')
const word = mostly('"x"', '"y"')
const time = fc.oneof(
  { weight: 150, arbitrary: fc.constantFrom(`${timeMs}`, `${timeMs}.5`, `"${timeMs}"`) },
  fc.constantFrom('"2026-01-31T09:00:00Z"', 'null', '7'),
)
const sentTime = mostly('"2026-01-31T09:00:00Z"')

/** Text of an object of some of these members, in any order, seldom with one twice or with another. */
function objectOf(members: Readonly<Record<string, fc.Arbitrary<string>>>): fc.Arbitrary<string> {
  const parts = Object.entries(members).map(([name, text]) => text.map((own) => `"${name}":${own}`))
  const other = fc.tuple(fc.constantFrom('other', 'b', 'at', '__proto__', 'q\\"'), number)
  return fc
    .tuple(
      fc.tuple(...parts),
      fc.array(fc.nat(200), { minLength: parts.length, maxLength: parts.length }),
      fc.oneof(
        { weight: 100, arbitrary: fc.constant(null) },
        other.map(([name, own]) => `"${name}":${own}`),
      ),
      fc.constantFrom('', ' ', '\n\t'),
      fc.nat(),
    )
    .map(([texts, chances, more, space, turn]) => {
      const there = texts.filter((_, index) => (chances[index] ?? 0) > 0)
      const all = more === null ? there : [...there, more]
      const from = all.length === 0 ? 0 : turn % all.length
      const turned = [...all.slice(from), ...all.slice(0, from)]
      return `{${space}${turned.join(`${space},${space}`)}${space}}`
    })
}

const reading = objectOf({
  at: time,
  g: objectOf({ a: number, b: integer }),
  c: mostly('true', 'false'),
  deep: objectOf({ er: objectOf({ d: word }) }),
})

const list = fc.array(reading, { maxLength: 3 }).map((all) => `[${all.join(',')}]`)

const message = fc.oneof(
  reading,
  objectOf({
    id: word,
    sent: objectOf({ at: sentTime }),
    data: objectOf({ list, unit: word }),
    more: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom('{"a":[1,{"b":null}],"c":{}}', '[]', '["a",2.5]') },
      fc.constantFrom(
        '{"a":1,"a":2}',
        '[{"a":1,"a":1}]',
        '[1,]',
        '{"a"}',
        '[12345678901234567890]',
      ),
    ),
  }),
)

/** What would be written down of a message, and what would be kept of each of its readings. */
function resultOf(
  schema: StreamSchema,
  payload: Buffer,
  { map, scan }: { readonly map: Mapper; readonly scan: Scan | undefined },
): unknown {
  const decoded = decoderOf('json', { schema })(payload, scan)
  if (!decoded.ok) return decoded.problem
  const found: DecodedMessage = map(decoded, {})
  const judge = judgeOf(schema)
  const verdicts = found.readings.map((one, index) => {
    const problem = found.unreadable?.get(index)
    const refusal = problem ?? found.refused?.get(index)
    return refusal ?? judge(one, { receivedAtUs, futureToleranceUs: 0 })
  })
  const kept = found.readings.map((_, index) => String(found.kept?.(index, payload).payload))
  return { isBatch: found.isBatch, verdicts, kept }
}

test.each(schemas.map((schema, index) => [index, schema] as const))(
  'a message that is scanned comes to the same as one that is read: schema %i',
  (_, schema) => {
    const mapping = textMappingOf(schema)
    const map = mapperOf(schema)
    if (mapping?.scan === undefined || map === undefined) throw new Error('there is no scan')
    let scans = 0
    const scan: Scan = (text) => {
      // The scan of a stream looks away for a while after some messages in vain.
      const found = textMappingOf(schema)?.scan?.(text)
      if (found !== undefined) scans++
      return found
    }
    fc.assert(
      fc.property(message, (text) => {
        const payload = Buffer.from(text)
        const expected = resultOf(schema, payload, { map, scan: undefined })
        expect(resultOf(schema, payload, { map: mapping.map, scan })).toEqual(expected)
      }),
      { numRuns: 2_000 },
    )
    expect(scans).toBeGreaterThan(20)
  },
)

test.each([
  ['a path through a list', { fields: { a: { type: 'number', from: 'g[0].a' } } }],
  ['what is known beside the message', { fields: { a: { type: 'string', from: '$topic[1]' } } }],
  ['two paths of one field', { fields: { a: { type: 'number', from: ['g.a', 'h.a'] } } }],
  ['a path to what another one goes through', { fields: { a: { type: 'number', from: 'at.x' } } }],
  ['texts that are read by type', { values: { texts: 'typed' } }],
  ['columns', { items: [{ path: 'data', as: 'columns' }] }],
] as const)('a mapping with %s has no scan', (_, rest) => {
  expect(textMappingOf(schemaWith(rest as Partial<StreamSchema>))?.scan).toBeUndefined()
})
