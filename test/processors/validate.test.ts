import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { validatorOf } from '../../processors/validate.ts'
import type { FieldMap, StreamSchema } from '../../src/contracts/stream-schema.ts'

function schema(fields: FieldMap, overrides: Partial<StreamSchema> = {}): StreamSchema {
  return {
    fields,
    validation: 'lenient',
    timestampField: 'timestamp',
    timestampFormat: 'rfc3339',
    ...overrides,
  }
}

const lenient = (fields: FieldMap) => validatorOf(schema(fields))
const strict = (fields: FieldMap) => validatorOf(schema(fields, { validation: 'strict' }))

const eachMode = [
  ['lenient', lenient],
  ['strict', strict],
] as const

/** Paths of what is wrong with a reading. */
function pathsOf(validator: ReturnType<typeof validatorOf>, reading: object): string[] {
  return (validator.problems(reading) ?? []).map(({ path }) => path)
}

describe.each(eachMode)('a %s stream', (_, validator) => {
  test('accepts a value of each type', () => {
    const all = validator({
      number: { type: 'number' },
      integer: { type: 'integer' },
      boolean: { type: 'boolean' },
      string: { type: 'string' },
      datetime: { type: 'datetime' },
      object: { type: 'object', fields: { inner: { type: 'number' } } },
      array: { type: 'array', items: { type: 'number' } },
    })
    const reading = {
      number: 1.5,
      integer: 1,
      boolean: false,
      string: '',
      datetime: '2026-01-31t23:59:59.5+01:00',
      object: { inner: 1 },
      array: [1, 2.5],
    }

    expect(all.problems(reading)).toBeUndefined()
    expect(all.flagged(reading)).toEqual([])
  })

  test.each([
    ['number', '1'],
    ['number', true],
    ['number', Number.POSITIVE_INFINITY],
    ['integer', 1.5],
    ['integer', '1'],
    ['boolean', 1],
    ['boolean', 'true'],
    ['string', 1],
    ['datetime', 1_700_000_000],
    ['datetime', '2026-01-31'],
    ['datetime', '2026-01-31T23:59:59'],
    ['object', []],
    ['object', '{}'],
    ['array', {}],
    ['array', 'ab'],
  ] as const)('refuses for the type %s the value %j and does not convert it', (type, value) => {
    const reading = { a: value }

    expect(pathsOf(validator({ a: { type } }), reading)).toEqual(['a'])
    expect(reading).toStrictEqual({ a: value })
  })

  test.each(['number', 'integer', 'boolean', 'string', 'datetime', 'object', 'array'] as const)(
    'refuses null for the type %s',
    (type) => {
      expect(pathsOf(validator({ a: { type } }), { a: null })).toEqual(['a'])
    },
  )

  test.each([1e300, -1e300, 2 ** 53 + 2, -(2 ** 53) - 2])(
    'refuses for an integer the number %d, which no integer column holds exactly',
    (value) => {
      expect(pathsOf(validator({ a: { type: 'integer' } }), { a: value })).toEqual(['a'])
    },
  )

  test('accepts for an integer any whole number up to 2^53, however it is written', () => {
    const integer = validator({ a: { type: 'integer' } })

    for (const text of ['1.0', '1e2', '-0', '9007199254740992', '-9007199254740992']) {
      expect(integer.problems({ a: JSON.parse(text) })).toBeUndefined()
    }
  })

  test('asks for required fields, and for no others', () => {
    const one = validator({ a: { type: 'number', required: true }, b: { type: 'number' } })

    expect(one.problems({ a: 1 })).toBeUndefined()
    expect(one.problems({ b: 1 })).toEqual([{ path: 'a', message: 'is required' }])
  })

  test('names the path of each problem, inside of objects and arrays too', () => {
    const nested = validator({
      sensor: {
        type: 'object',
        fields: { position: { type: 'object', fields: { x: { type: 'number', required: true } } } },
      },
      series: {
        type: 'array',
        items: { type: 'object', fields: { at: { type: 'datetime' } } },
      },
      level: { type: 'number' },
    })
    const reading = {
      sensor: { position: {} },
      series: [{}, { at: 'noon' }],
      level: 'high',
    }

    expect(pathsOf(nested, reading).toSorted()).toEqual([
      'level',
      'sensor.position.x',
      'series.1.at',
    ])
  })

  test.each(['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf'])(
    'does not take what every object inherits for the field %s',
    (name) => {
      expect(validator({ [name]: { type: 'number' } }).problems({})).toBeUndefined()
      expect(pathsOf(validator({ [name]: { type: 'number', required: true } }), {})).toEqual([name])
    },
  )

  test('takes the time field as given: the judge looks at it', () => {
    expect(validator({ a: { type: 'number' } }).problems({ timestamp: 'noon' })).toBeUndefined()
  })

  test('leaves the reading as it is', () => {
    const fields: FieldMap = { a: { type: 'number', min: 0 }, b: { type: 'object' } }
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.jsonValue()), (reading) => {
        const before = JSON.stringify(reading)
        const one = validator(fields)
        one.problems(reading)
        one.flagged(reading)

        expect(JSON.stringify(reading)).toBe(before)
      }),
    )
  })
})

const level: FieldMap = { level: { type: 'number', min: -1, max: 10 } }
const mode: FieldMap = { mode: { type: 'string', enum: ['on', 'off'] } }

describe('a strict stream', () => {
  test('refuses a field that it does not know, and names it', () => {
    expect(strict(level).problems({ level: 1, colour: 'red' })).toEqual([
      { path: 'colour', message: 'is not a field of this stream' },
    ])
  })

  test('refuses an unknown member of an object', () => {
    const sensor = strict({ sensor: { type: 'object', fields: { id: { type: 'string' } } } })

    expect(pathsOf(sensor, { sensor: { id: 'a', model: 'b' } })).toEqual(['sensor.model'])
  })

  test('refuses a field named __proto__', () => {
    expect(pathsOf(strict(level), JSON.parse('{"__proto__":1}'))).toEqual(['__proto__'])
  })

  test('knows the time field by the name that the stream gives it, and by no other', () => {
    const renamed = validatorOf(schema(level, { validation: 'strict', timestampField: 'ts' }))

    expect(renamed.problems({ ts: 1 })).toBeUndefined()
    expect(pathsOf(renamed, { timestamp: 1 })).toEqual(['timestamp'])
  })

  test('accepts exactly the values from min to max, both included', () => {
    const values = fc.oneof(fc.constantFrom(-1, 10), fc.double({ noNaN: true, min: -20, max: 20 }))
    fc.assert(
      fc.property(values, (value) => {
        const isWithin = value >= -1 && value <= 10

        expect(strict(level).problems({ level: value }) === undefined).toBe(isWithin)
      }),
    )
  })

  test('refuses a value that is not in the enumeration, and lists what is', () => {
    expect(strict(mode).problems({ mode: 'on' })).toBeUndefined()
    expect(strict(mode).problems({ mode: 'On' })).toEqual([
      { path: 'mode', message: 'must be one of ["on","off"]' },
    ])
  })

  test('reports everything that is wrong at once', () => {
    const both = strict({ ...level, ...mode })

    expect(pathsOf(both, { level: 11, mode: 'idle', colour: 1 }).toSorted()).toEqual([
      'colour',
      'level',
      'mode',
    ])
  })
})

describe('a lenient stream', () => {
  test('accepts fields that it does not know', () => {
    const reading = { level: 1, colour: null, sensor: { model: 'b' } }

    expect(lenient(level).problems(reading)).toBeUndefined()
    expect(lenient(level).flagged(reading)).toEqual([])
  })

  test('keeps and flags exactly what a strict one refuses for its range', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, min: -20, max: 20 }), (value) => {
        const isRefused = strict(level).problems({ level: value }) !== undefined

        expect(lenient(level).problems({ level: value })).toBeUndefined()
        expect(lenient(level).flagged({ level: value })).toEqual(isRefused ? ['level'] : [])
      }),
    )
  })

  test('flags a value that is not in the enumeration', () => {
    expect(lenient(mode).problems({ mode: 'idle' })).toBeUndefined()
    expect(lenient(mode).flagged({ mode: 'idle' })).toEqual(['mode'])
  })

  test('flags the field at the top by name, once and sorted, however deep the values are', () => {
    const fields: FieldMap = {
      series: { type: 'array', items: { type: 'number', max: 10 } },
      place: { type: 'object', fields: { height: { type: 'number', min: 0 } } },
    }
    const reading = { series: [11, 1, 12], place: { height: -1 } }

    expect(lenient(fields).problems(reading)).toBeUndefined()
    expect(lenient(fields).flagged(reading)).toEqual(['place', 'series'])
  })
})

describe('validatorOf', () => {
  test('gives streams of one shape the same validator', () => {
    const fields: FieldMap = { a: { type: 'number' }, b: { type: 'string' } }
    const reordered: FieldMap = { b: { type: 'string' }, a: { type: 'number' } }

    expect(validatorOf(schema(reordered))).toBe(validatorOf(schema(fields)))
  })

  test('does not share it between a strict and a lenient stream', () => {
    expect(strict(level)).not.toBe(lenient(level))
  })
})
