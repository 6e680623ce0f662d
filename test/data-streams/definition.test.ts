import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../src/core/errors.ts'
import { parseDefinition } from '../../src/streams/data-streams/definition.ts'
import { currentRules } from '../../src/streams/data-streams/time-rules.ts'

const vaultId = '01234567-89ab-4def-8123-456789abcdef'

function body(overrides: object = {}): object {
  return {
    name: 'Boiler',
    vaultId,
    type: 'iot_sensor',
    schema: { level: { type: 'number' } },
    ...overrides,
  }
}

/** The error that a body causes: its code and what it names. */
function refusal(value: unknown): { code: string; paths: string[] } {
  try {
    parseDefinition(value)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return { code: error.code, paths: (error.details ?? []).map(({ path }) => path) }
  }
  throw new Error('the definition was accepted')
}

const invalid = (...paths: string[]) => ({ code: 'invalid_request', paths })
const unsupported = (...paths: string[]) => ({ code: 'unsupported_definition', paths })
const number = { type: 'number' }

/** A schema of so many levels, each an object or an array in the one above. */
function nested(levels: number, kind: 'object' | 'array'): object {
  let field: object = number
  for (let level = levels; level > 1; level--) {
    field =
      kind === 'array' ? { type: 'array', items: field } : { type: 'object', fields: { field } }
  }
  return { field }
}

function manyFields(count: number): object {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, number]))
}

describe('a definition', () => {
  test('is what was sent, with nothing added but the rules that it was checked by', () => {
    const full = body({
      source: { deviceId: 'boiler-1', protocol: 'mqtt', timestampField: 'ts' },
      schema: { level: { type: 'number', unit: 'm', min: 0, max: 10, required: true } },
      processing: { validation: 'strict', frequency: '1m', aggregation: 'average' },
      tags: { site: 'berlin' },
    })

    expect(parseDefinition(full)).toEqual({ ...full, rules: currentRules })
  })

  test('needs neither source, processing nor tags', () => {
    expect(parseDefinition(body())).toMatchObject(body({ source: {}, processing: {}, tags: {} }))
  })

  test('has an end', () => {
    const values = Array.from({ length: 256 }, (_, index) => String(index).padEnd(256, 'x'))
    const field = { type: 'string', enum: values }

    expect(parseDefinition(body({ schema: { one: field } })).schema).toEqual({ one: field })
    expect(refusal(body({ schema: { one: field, two: field } }))).toEqual(invalid(''))
  })

  test('gets all that is wrong with it named at once', () => {
    const wrong = {
      name: ' ',
      vaultId: 'mine',
      type: 'toaster',
      schema: {},
      source: 'here',
      processing: { validation: 'none' },
    }

    expect(refusal(wrong).paths.toSorted()).toEqual(
      ['name', 'processing.validation', 'schema', 'source', 'type', 'vaultId'].toSorted(),
    )
  })

  test.each([undefined, null, 1, 'text', [], [body()]])('is no %j', (value) => {
    expect(refusal(value).code).toBe('invalid_request')
  })

  test.each([
    ['at the top', { colour: 1 }, 'colour'],
    ['in the source', { source: { adress: 'x' } }, 'source.adress'],
    ['in the processing', { processing: { freqency: '1m' } }, 'processing.freqency'],
    ['of a field', { schema: { level: { ...number, maximum: 1 } } }, 'schema.level.maximum'],
    [
      'of a range',
      { schema: { level: { ...number, range: { minimum: 1 } } } },
      'schema.level.range.minimum',
    ],
  ])('with an unknown key %s is refused, naming the key', (_, overrides, path) => {
    expect(refusal(body(overrides))).toEqual(invalid(path))
  })

  test.each([[''], ['   '], ['x'.repeat(201)], [7], [null], [['Boiler']]])(
    'has no name such as %j',
    (name) => {
      expect(refusal(body({ name }))).toEqual(invalid('name'))
    },
  )

  test.each([[undefined], [null], [7], ['mine'], [[vaultId]], [{ toString: 1, valueOf: 1 }]])(
    'has no vault such as %j',
    (id) => {
      expect(refusal(body({ vaultId: id }))).toEqual(invalid('vaultId'))
    },
  )

  test('folds the upper-case hex of its vault', () => {
    expect(parseDefinition(body({ vaultId: vaultId.toUpperCase() })).vaultId).toBe(vaultId)
  })

  test.each([['0s'], ['m'], ['1'], ['1w'], ['-1m'], ['1m '], [60], [['1m']], [{ toString: 1 }]])(
    'has no frequency such as %j',
    (frequency) => {
      expect(refusal(body({ processing: { frequency } }))).toEqual(invalid('processing.frequency'))
    },
  )

  test('is answered with a DomainError, or taken, whatever it is', () => {
    const parts = fc.record(
      {
        source: fc.jsonValue(),
        schema: fc.oneof(fc.jsonValue(), fc.dictionary(fc.string(), fc.jsonValue())),
        processing: fc.jsonValue(),
        type: fc.jsonValue(),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), parts.map(body)), (value) => {
        let outcome: unknown
        try {
          outcome = parseDefinition(value)
        } catch (error) {
          outcome = error instanceof DomainError ? error.code : error
        }

        expect(outcome).toSatisfy(
          (one) => one === 'invalid_request' || one === 'unsupported_definition' || 'name' in one,
        )
      }),
    )
  })
})

describe('the names of fields', () => {
  test('are letters, digits and _, up to 63, and begin with no digit', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/), (name) => {
        fc.pre(!/^(timestamp|streamid|count|extra|__proto__)$/i.test(name))

        expect(parseDefinition(body({ schema: { [name]: number } })).schema).toEqual({
          [name]: number,
        })
      }),
    )
  })

  test.each(['', '1st', 'a-b', 'a.b', 'a b', 'größe', 'x'.repeat(64), 'a\n', '$digest'])(
    'are never such as %j',
    (name) => {
      expect(refusal(body({ schema: { [name]: number } }))).toEqual(invalid(`schema.${name}`))
    },
  )

  test.each(['timestamp', 'streamId', 'STREAMID', 'count', 'Extra'])(
    'do not take the reserved name %s at the top',
    (name) => {
      expect(refusal(body({ schema: { [name]: number } }))).toEqual(invalid(`schema.${name}`))
    },
  )

  test('may be reserved ones inside of an object', () => {
    const schema = { sensor: { type: 'object', fields: { count: number } } }

    expect(parseDefinition(body({ schema })).schema).toEqual(schema)
  })

  test.each([
    '{"__proto__":{"type":"number"}}',
    '{"a":{"type":"object","fields":{"__proto__":{"type":"number"}}}}',
  ])('never take __proto__: %s', (text) => {
    expect(refusal(body({ schema: JSON.parse(text) })).code).toBe('invalid_request')
  })

  test('are unique without regard to case, in one object', () => {
    const inner = { type: 'object', fields: { level: number } }

    expect(refusal(body({ schema: { Level: number, LEVEL: number } }))).toEqual(
      invalid('schema.LEVEL'),
    )
    expect(parseDefinition(body({ schema: { level: number, inner } })).schema).toHaveProperty(
      'inner',
    )
  })
})

describe('the size of a schema', () => {
  test.each(['object', 'array'] as const)('is at most 8 levels of %s', (kind) => {
    expect(parseDefinition(body({ schema: nested(8, kind) })).schema).toEqual(nested(8, kind))
    expect(refusal(body({ schema: nested(9, kind) })).code).toBe('invalid_request')
  })

  test('is at most 256 fields', () => {
    expect(Object.keys(parseDefinition(body({ schema: manyFields(256) })).schema)).toHaveLength(256)
    expect(refusal(body({ schema: manyFields(257) }))).toEqual(invalid('schema'))
  })

  test('counts the fields of inner objects, too', () => {
    const [most, tooMany] = [255, 256].map((count) =>
      body({ schema: { inner: { type: 'object', fields: manyFields(count) } } }),
    )

    expect(parseDefinition(most).schema).toHaveProperty('inner')
    expect(refusal(tooMany)).toEqual(invalid('schema'))
  })
})

describe('a field', () => {
  test.each([
    [{ range: [0, 10] }, { min: 0, max: 10 }],
    [{ range: { min: 0, max: 10 } }, { min: 0, max: 10 }],
    [{ range: { max: 10 } }, { max: 10 }],
    [{ min: 0 }, { min: 0 }],
    [{ range: [5, 5] }, { min: 5, max: 5 }],
    [{ enum: [1, 2, 1] }, { enum: [1, 2] }],
  ])('given %j has %j', (given, bounds) => {
    const { schema } = parseDefinition(body({ schema: { level: { ...number, ...given } } }))

    expect(schema).toEqual({ level: { ...number, ...bounds } })
  })

  test.each([
    ['a list of bounds that is too short', { ...number, range: [1] }],
    ['bounds the wrong way round', { ...number, min: 2, max: 1 }],
    ['a bound that is a text', { ...number, min: '0' }],
    ['bounds of a text', { type: 'string', min: 0 }],
    ['an empty enumeration', { type: 'string', enum: [] }],
    ['an enumeration of another type', { ...number, enum: ['1'] }],
    ['an enumeration of objects', { type: 'object', enum: [null] }],
    ['items that are no array', { ...number, items: number }],
    ['fields that are no object', { type: 'array', fields: { a: number } }],
    ['an object of no fields', { type: 'object', fields: {} }],
    ['no type', {}],
    ['an unknown type', { type: 'float' }],
    ['a required that is no boolean', { ...number, required: 'yes' }],
    ['a unit that is no text', { ...number, unit: 1 }],
    ['only a type, as a text', 'number'],
  ])('with %s is refused', (_, level) => {
    expect(refusal(body({ schema: { level } })).code).toBe('invalid_request')
  })
})

describe('what this version cannot do', () => {
  test.each([
    [{ source: { protocol: 'coap' } }, 'source.protocol'],
    [{ source: { clientId: 'vault' } }, 'source.clientId'],
    [{ source: { topic: 'boilers/+', protocol: 'http' } }, 'source.topic'],
  ])('is refused as such, and not stored in silence: %j', (overrides, path) => {
    expect(refusal(body(overrides))).toEqual(unsupported(path))
  })

  test('is no answer to what is wrong anyway', () => {
    expect(refusal(body({ source: { protocol: 'coap' }, name: '' }))).toEqual(invalid('name'))
  })
})
