import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judgeOf } from '../../processors/index.ts'
import type { AcceptedReading } from '../../src/contracts/reading.ts'
import type { FieldMap } from '../../src/contracts/stream-schema.ts'

const receipt = { receivedAtUs: 1_790_000_000_000_000, futureToleranceUs: 300_000_000 }

/** The verdict on a reading, given as a value or as its text, of a lenient stream. */
function accepted(reading: unknown, fields: FieldMap): AcceptedReading {
  const value: unknown = typeof reading === 'string' ? JSON.parse(reading) : reading
  const judge = judgeOf({
    fields,
    validation: 'lenient',
    timestampField: 'timestamp',
    timestampFormat: 'rfc3339',
  })
  const verdict = judge(value, receipt)
  if (!('values' in verdict)) throw new Error(JSON.stringify(verdict))
  return verdict
}

const digestOf = (reading: unknown, fields: FieldMap = {}) => accepted(reading, fields).digest

/** Any value of JSON without a member called __proto__, which is refused. */
function json(maxDepth: number): fc.Arbitrary<fc.JsonValue> {
  return fc
    .jsonValue({ maxDepth })
    .map((value) => JSON.parse(JSON.stringify(value).replaceAll('__proto__', 'proto')))
}

describe('identity', () => {
  const readings = fc
    .dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), json(3))
    .map((reading) => JSON.parse(JSON.stringify(reading)) as Record<string, unknown>)

  test('does not depend on the order of the fields', () => {
    fc.assert(
      fc.property(readings, (reading) => {
        const reversed = Object.fromEntries(Object.entries(reading).toReversed())

        expect(digestOf(reading)).toMatch(/^[0-9a-f]{16}$/)
        expect(digestOf(reversed)).toBe(digestOf(reading))
      }),
    )
  })

  test.each(['1.0', '1e0', '10e-1', '0.1E1'])('takes 1 and %s for the same number', (spelled) => {
    const fields: FieldMap = { level: { type: 'number' } }

    expect(digestOf(`{"level":${spelled}}`, fields)).toBe(digestOf('{"level":1}', fields))
    expect(digestOf(`{"a":[${spelled}]}`)).toBe(digestOf('{"a":[1]}'))
  })

  test('stays when the time is spelled in another way', () => {
    const [first, second] = ['2026-03-01T12:00:00Z', '2026-03-01t13:00:00.000+01:00'].map((text) =>
      accepted({ timestamp: text, level: 1 }, {}),
    )

    expect(second).toEqual(first)
  })

  test('stays when unknown fields become declared ones', () => {
    const types: FieldMap = {
      a: { type: 'number' },
      b: { type: 'string' },
      c: { type: 'boolean' },
      d: { type: 'array' },
      e: { type: 'object', fields: { x: { type: 'integer' } } },
    }
    const typed = fc.record({
      a: fc.double({ noNaN: true, noDefaultInfinity: true }),
      b: fc.string(),
      c: fc.boolean(),
      d: fc.array(json(1)),
      e: fc.record({ x: fc.integer(), y: json(1) }),
    })
    fc.assert(
      fc.property(typed, fc.subarray(Object.keys(types)), (reading, names) => {
        const declared = Object.fromEntries(
          Object.entries(types).filter(([name]) => names.includes(name)),
        )

        expect(digestOf(reading, declared)).toBe(digestOf(reading))
      }),
    )
  })

  test('differs when any value differs', () => {
    fc.assert(
      fc.property(readings, fc.constantFrom('a', 'b', 'x'), (reading, name) => {
        const value = JSON.stringify(reading[name] ?? null)

        expect(digestOf({ ...reading, [name]: `not ${value}` })).not.toBe(digestOf(reading))
      }),
    )
  })

  test.each([
    ['{"a":1}', '{"a":"1"}'],
    ['{"a":null}', '{}'],
    ['{"a":1}', '{"b":1}'],
    ['{"a":[1,2]}', '{"a":[2,1]}'],
    ['{"a":{"b":1}}', '{"a":1,"b":1}'],
    ['{"a":"x\\",\\"b\\":\\"y"}', '{"a":"x","b":"y"}'],
    ['{"a":0.1}', '{"a":0.10000000000000002}'],
  ])('tells %s and %s apart', (left, right) => {
    expect(digestOf(left)).not.toBe(digestOf(right))
  })
})
