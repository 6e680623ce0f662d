import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { needsValueReader, takesNonFinite, valueReaderOf } from '../../processors/values.ts'
import type { MissingValue, ValueRules } from '../../src/contracts/mapping.ts'
import type { FieldDefinition, FieldType } from '../../src/contracts/stream-schema.ts'

const typed: ValueRules = { texts: 'typed' }

function read(raw: unknown, field: FieldDefinition, rules?: ValueRules): unknown {
  const reader = valueReaderOf(field, rules)
  if (reader === undefined) throw new Error('nothing reads it')
  return reader(raw)
}

const same = (value: unknown) => (typeof value === 'string' ? value.trim().toLowerCase() : value)

describe('properties of values', () => {
  const anything = fc.jsonValue({ maxDepth: 3 })
  const finite = fc.double({ noNaN: true, noDefaultInfinity: true })
  const padding = fc.stringMatching(/^[ \t\n]{0,3}$/)

  test('a text is the number that it was written from, whatever white space and mark', () => {
    fc.assert(
      fc.property(finite, padding, fc.constantFrom('.', ','), (number, pad, decimal) => {
        const text = `${pad}${String(number).replace('.', decimal)}${pad}`
        const rules = { ...typed, decimal } as const
        expect(read(text, { type: 'number' }, rules)).toBe(Object.is(number, -0) ? 0 : number)
      }),
    )
  })

  test('an integer is read with all of its digits, or not at all', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (integer) => {
        const value = read(`${integer}`, { type: 'integer' }, typed)
        if (typeof value === 'number') expect(BigInt(value)).toBe(integer)
        else expect(value).toBe(`${integer}`)
      }),
    )
  })

  test('what stands for none is absent in any field, and nothing else is', () => {
    const scalar = fc.oneof(
      fc.string({ maxLength: 5 }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    )
    fc.assert(
      fc.property(fc.array(scalar, { minLength: 1 }), anything, (missing, raw) => {
        const rules = { missing: missing as MissingValue[] }
        for (const value of missing) expect(read(value, { type: 'number' }, rules)).toBeUndefined()
        const isMissing = missing.map(same).includes(same(raw))
        expect(read(raw, { type: 'number' }, rules)).toBe(isMissing ? undefined : raw)
      }),
    )
  })

  test('what was read is read as the same again', () => {
    const types = fc.constantFrom<FieldType[]>('number', 'integer', 'boolean', 'string')
    const rules = { ...typed, missing: ['off', -1, '7'] }
    fc.assert(
      fc.property(types, fc.oneof(anything, fc.constantFrom('on', '0', '-1', 7)), (type, raw) => {
        const once = read(raw, { type }, rules)
        expect(read(once, { type }, rules)).toEqual(once)
      }),
    )
  })

  test('a message is never changed', () => {
    const field: FieldDefinition = {
      type: 'object',
      fields: { a: { type: 'number' }, b: { type: 'array', items: { type: 'boolean' } } },
    }
    const rules = { ...typed, missing: [null, ''] }
    const part = fc.oneof(fc.constantFrom('1', 'on', '', null), anything)
    fc.assert(
      fc.property(fc.record({ a: part, b: fc.array(part) }), (raw) => {
        const before = structuredClone(raw)
        read(raw, field, rules)
        expect(raw).toEqual(before)
      }),
    )
  })
})

describe('typed texts', () => {
  test.each<[FieldType, unknown, unknown]>([
    ['number', '21.5', 21.5],
    ['number', ' 21.5 ', 21.5],
    ['number', '+3', 3],
    ['number', '007', 7],
    ['number', '.5', 0.5],
    ['number', '1e3', 1_000],
    ['number', '602000000000000000000', 6.02e20],
    ['integer', '-12', -12],
    ['boolean', 'ON', true],
    ['boolean', ' off ', false],
    ['boolean', 'Yes', true],
    ['boolean', 'no', false],
    ['boolean', 'True', true],
    ['boolean', '0', false],
    ['boolean', 1, true],
    ['boolean', 0, false],
    ['string', 21.5, '21.5'],
    ['string', true, 'true'],
  ])('of a %s: %j is %j', (type, raw, value) => {
    expect(read(raw, { type }, typed)).toBe(value)
  })

  test.each<[FieldType, unknown]>([
    ['number', '21.5 °C'],
    ['number', '21,5'],
    ['number', '0x10'],
    ['number', 'NaN'],
    ['number', '1e400'],
    ['number', ''],
    ['number', true],
    ['number', '1 000'],
    ['integer', '9007199254740993'],
    ['integer', '+0009007199254740993'],
    ['boolean', 'open'],
    ['boolean', 2],
    ['string', Number.NaN],
    ['string', null],
  ])('of a %s: %j stays what it is', (type, raw) => {
    expect(read(raw, { type }, typed)).toBe(raw)
  })

  test('a point is in no number whose decimals stand behind a comma', () => {
    const rules = { ...typed, decimal: ',' } as const
    expect(read('21,5', { type: 'number' }, rules)).toBe(21.5)
    for (const text of ['1.234', '1.234,5', '1,2,3']) {
      expect(read(text, { type: 'number' }, rules)).toBe(text)
    }
  })

  test('are for each field to say, against the stream', () => {
    expect(valueReaderOf({ type: 'number', texts: 'as-sent' }, typed)).toBeUndefined()
    expect(read('3', { type: 'number', texts: 'typed' })).toBe(3)
    expect(read('3,5', { type: 'number', decimal: ',' }, typed)).toBe(3.5)
  })
})

describe('what stands for none', () => {
  test('is what the stream and the field say together', () => {
    const field: FieldDefinition = { type: 'number', missing: [32_767] }
    const rules = { missing: [null, 'N/A'] }
    for (const raw of [32_767, null, 'N/A', ' n/a '])
      expect(read(raw, field, rules)).toBeUndefined()
    expect(read(32_766, field, rules)).toBe(32_766)
  })

  test.each<[string, number]>([
    ['nan', Number.NaN],
    ['NaN', Number.NaN],
    ['inf', Number.POSITIVE_INFINITY],
    ['-Infinity', Number.NEGATIVE_INFINITY],
  ])('%s is the number %d as well', (text, number) => {
    expect(read(number, { type: 'number' }, { missing: [text] })).toBeUndefined()
    expect(takesNonFinite({ a: { type: 'number', missing: [text] } }, undefined)).toBe(true)
    expect(takesNonFinite({ a: { type: 'number' } }, { missing: ['na', 1] })).toBe(false)
  })

  test('may be written as a text where texts are typed', () => {
    const rules = { ...typed, missing: [-999] }
    expect(read('-999.0', { type: 'number' }, rules)).toBeUndefined()
    expect(read('-999.0', { type: 'number' }, { missing: [-999] })).toBe('-999.0')
  })

  test('is left out of objects and lists', () => {
    const field: FieldDefinition = {
      type: 'object',
      fields: {
        t: { type: 'number' },
        list: { type: 'array', items: { type: 'number', missing: [-1] } },
      },
    }
    const raw = { t: '', list: ['1', -1, null, 2], more: null }
    const rules = { ...typed, missing: ['', null] }
    expect(read(raw, field, rules)).toEqual({ list: [1, 2], more: null })
  })
})

test('where no rule is about a value nothing reads it', () => {
  const field: FieldDefinition = { type: 'object', fields: { at: { type: 'datetime' } } }
  expect(valueReaderOf({ type: 'number' }, undefined)).toBeUndefined()
  expect(valueReaderOf(field, typed)).toBeUndefined()
  expect(needsValueReader({ field, n: { type: 'number' } }, undefined)).toBe(false)
  expect(needsValueReader({ field, n: { type: 'number' } }, typed)).toBe(true)
})
