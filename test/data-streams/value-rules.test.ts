import { describe, expect, test } from 'vitest'
import type { DomainError, ErrorDetail } from '../../src/core/errors.ts'
import { parseDefinition, schemaOf } from '../../src/streams/data-streams/definition.ts'

const base = {
  name: 'Boiler',
  vaultId: '01234567-89ab-4def-8123-456789abcdef',
  type: 'iot_sensor',
}
const number = { level: { type: 'number' } }

function problemsOf(definition: object): readonly ErrorDetail[] {
  try {
    parseDefinition({ ...base, ...definition })
    return []
  } catch (error) {
    return (error as DomainError).details ?? []
  }
}

describe('what values mean', () => {
  test('is part of the schema of a stream', () => {
    const source = { missing: [null, '', 'nan', -999], texts: 'typed', decimal: ',' }
    const schema = { level: { type: 'number', missing: [32_767], texts: 'as-sent' }, ...more }
    const { values, fields } = schemaOf(parseDefinition({ ...base, source, schema }))
    expect(values).toEqual(source)
    expect(fields).toEqual(schema)
  })

  const more = { note: { type: 'array', items: { type: 'integer', decimal: '.' } } }

  test('is nothing where nothing is said', () => {
    expect(schemaOf(parseDefinition({ ...base, schema: number }))).not.toHaveProperty('values')
    const asSent = { source: { texts: 'as-sent' }, schema: number }
    expect(schemaOf(parseDefinition({ ...base, ...asSent }))).not.toHaveProperty('values')
  })

  test('is for databases and machines to say as well', () => {
    const database = {
      type: 'database',
      source: {
        protocol: 'sqlite',
        endpoint: '/data/a.db',
        query: 'SELECT * FROM readings',
        incrementalColumn: 'id',
        schedule: '* * * * *',
        missing: ['n/a'],
      },
      schema: number,
    }
    expect(problemsOf(database)).toEqual([])
  })
})

function levelOf(field: object) {
  return { schema: { level: { type: 'number', ...field } } }
}

describe('a definition is refused', () => {
  test.each([
    ['missing that is no list', { source: { missing: 'nan' }, schema: number }],
    ['missing that is empty', { source: { missing: [] }, schema: number }],
    ['an object that is missing', { source: { missing: [{}] }, schema: number }],
    [
      'a number that JSON has not',
      { source: { missing: [Number.POSITIVE_INFINITY] }, schema: number },
    ],
    ['too many values', { source: { missing: Array(101).fill(1) }, schema: number }],
    ['a long text', { source: { missing: ['a'.repeat(257)] }, schema: number }],
  ])('with %s', (_, definition) => {
    expect(problemsOf(definition).map(({ path }) => path)).toEqual(['source.missing'])
  })

  test.each([
    ['source.texts', { source: { texts: 'guessed' }, schema: number }],
    ['source.decimal', { source: { texts: 'typed', decimal: ';' }, schema: number }],
    ['schema.level.missing', levelOf({ missing: [[]] })],
    ['schema.level.texts', levelOf({ texts: 'guessed' })],
    ['schema.level.decimal', levelOf({ texts: 'typed', decimal: 'point' })],
  ])('with a bad %s', (path, definition) => {
    expect(problemsOf(definition).map((problem) => problem.path)).toEqual([path])
  })

  test.each([
    ['source.texts', { source: { texts: 'typed' }, schema: { at: { type: 'datetime' } } }],
    ['source.decimal', { source: { decimal: ',' }, schema: number }],
    [
      'source.decimal',
      { source: { texts: 'typed', decimal: ',' }, schema: { on: { type: 'boolean' } } },
    ],
    ['schema.level.decimal', levelOf({ decimal: ',' })],
    ['schema.at.texts', { schema: { at: { type: 'datetime', texts: 'typed' } } }],
    ['schema.all.texts', { schema: { all: { type: 'object', texts: 'typed' } } }],
    ['schema.on.decimal', { schema: { on: { type: 'boolean', texts: 'typed', decimal: ',' } } }],
    [
      'schema.all.items.decimal',
      {
        source: { texts: 'typed' },
        schema: {
          all: { type: 'array', texts: 'as-sent', items: { type: 'number', decimal: ',' } },
        },
      },
    ],
  ])('with a %s that has no effect', (path, definition) => {
    const found = problemsOf({ ...definition, schema: { ...definition.schema } })
    expect(found.map((problem) => problem.path)).toContain(path)
    expect(found.every(({ message }) => message.startsWith('has no effect'))).toBe(true)
  })
})

function eventsOf(second: object) {
  return {
    type: 'event_stream',
    source: {
      protocol: 'webhook',
      signature: { scheme: 'standard-webhooks' },
      credentials: { secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
      eventTypes: {
        made: { size: { type: 'number', missing: [0], texts: 'typed', decimal: ',' } },
        sold: { size: { type: 'number', ...second } },
      },
    },
  }
}

describe('events of several types', () => {
  test('say the same of a field that they share', () => {
    expect(problemsOf(eventsOf({ missing: [0], texts: 'typed', decimal: ',' }))).toEqual([])
  })

  test.each([
    [{ texts: 'typed', decimal: ',' }, 'must have the missing [0], as elsewhere'],
    [{ missing: [0], texts: 'as-sent' }, 'must have the texts "typed", as elsewhere'],
    [{ missing: [0], texts: 'typed' }, 'must have the decimal ",", as elsewhere'],
  ])('and not %j', (second, message) => {
    expect(problemsOf(eventsOf(second))).toContainEqual({
      path: 'source.eventTypes.sold.size',
      message,
    })
  })

  test('are told where a key has no effect', () => {
    const { source, ...rest } = eventsOf({})
    const eventTypes = { made: { size: { type: 'number', decimal: ',' } } }
    expect(problemsOf({ ...rest, source: { ...source, eventTypes } })).toEqual([
      {
        path: 'source.eventTypes.made.size.decimal',
        message: expect.stringContaining('has no effect') as string,
      },
    ])
  })
})
