import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/contracts/definitions/problems.ts'
import type { DomainError } from '../../src/core/errors.ts'
import {
  parseDefinition,
  schemaOf,
  type VersionedDefinition,
  versionedJson,
} from '../../src/streams/data-streams/definition.ts'
import { definitionWarnings } from '../../src/streams/data-streams/timestamp-field.ts'

const fields = { temperature: { type: 'number' } }

function parsed(source: Json, type = 'iot_sensor', schema: object = fields) {
  const vaultId = '01234567-89ab-4def-8123-456789abcdef'
  return parseDefinition({ name: 'boiler', vaultId, type, source, schema })
}

/** What is wrong with a source, by its path. */
function problemsOf(source: Json, type?: string, schema?: object): Json {
  try {
    parsed(source, type, schema)
    return {}
  } catch (error) {
    const { details = [] } = error as DomainError
    return Object.fromEntries(details.map(({ path, message }) => [path, message]))
  }
}

const at = { timestampField: 'at' }

describe('the keys about times', () => {
  test.each<[string, Json, object]>([
    ['none', {}, { isRequired: false }],
    ['a field', at, { isRequired: true }],
    ['the usual field', { timestampField: 'timestamp' }, { isRequired: true }],
    ['a field that may be missing', { ...at, timestampOptional: true }, { isRequired: false }],
    [
      'a zone',
      { ...at, timestampFormat: 'local', timezone: 'Europe/Berlin' },
      { isRequired: true, zone: 'Europe/Berlin' },
    ],
    [
      'a first time',
      { timestampMin: '2020-01-01T01:00:00+01:00' },
      { isRequired: false, minUs: Date.UTC(2020, 0, 1) * 1_000 },
    ],
    [
      'an offset',
      { ...at, timestampOffset: { path: '$parent.x', unit: 'ns' }, items: 'data' },
      { isRequired: true, offset: { path: '$parent.x', unit: 'ns' } },
    ],
    ['times of SenML', { ...at, format: 'senml-json' }, { isRequired: false }],
    [
      'times of Sparkplug',
      { ...at, format: 'sparkplug', topic: 'spBv1.0/a/#' },
      { isRequired: false },
    ],
  ])('say the rules of a schema: %s', (_, source, time) => {
    expect(schemaOf(parsed(source)).time).toEqual(time)
  })

  test('say no zone of a schedule where times name theirs', () => {
    const source = {
      endpoint: 'https://plant/a',
      schedule: '* * * * *',
      timezone: 'Europe/Berlin',
      ...at,
    }
    expect(schemaOf(parsed(source, 'api_pull')).time).toEqual({ isRequired: true })
    const local = { ...source, timestampFormat: 'local' }
    expect(schemaOf(parsed(local, 'api_pull')).time).toMatchObject({ zone: 'Europe/Berlin' })
  })

  test.each<[Json, string, string]>([
    [{ timestampField: '$nowhere' }, 'timestampField', 'begins with $nowhere'],
    [{ timestampField: 'a..b' }, 'timestampField', 'has no name at place 2'],
    [{ timestampFormat: 'iso8601' }, 'timestampFormat', 'must be rfc3339, epoch_s, epoch_ms'],
    [
      { timestampFormat: 'YYYY-MM-DD' },
      'timestampFormat',
      'likely means y: Y is the year of a week',
    ],
    [{ timestampFormat: 'HH:mm' }, 'timestampFormat', 'has no year (yyyy)'],
    [{ timestampFormat: 7 }, 'timestampFormat', 'is not a text'],
    [
      { timestampFormat: "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'", timezone: 'Europe/Berlin' },
      'timestampFormat',
      'reads times in RFC 3339 that are in UTC as other times',
    ],
    [{ timezone: 'Europe/Berlin' }, 'timezone', 'has no effect with rfc3339'],
    [{ timestampFormat: 'epoch_s', timezone: 'UTC' }, 'timezone', 'has no effect with epoch_s'],
    [
      { timestampFormat: 'local', timezone: 'Berlin' },
      'timezone',
      'must be the name of a time zone',
    ],
    [{ timestampOptional: true }, 'timestampOptional', 'needs timestampField'],
    [{ ...at, timestampOptional: 'yes' }, 'timestampOptional', 'must be true or false'],
    [
      { timestampMin: '2020-01-01' },
      'timestampMin',
      'must be a time in RFC 3339 from 1970 to 2200',
    ],
    [{ timestampMin: '2201-01-01T00:00:00Z' }, 'timestampMin', 'must be a time in RFC 3339'],
    [{ timestampMin: '1969-12-31T00:00:00Z' }, 'timestampMin', 'must be a time in RFC 3339'],
    [{ timestampOffset: { path: 'a', unit: 's' } }, 'timestampOffset', 'needs timestampField'],
    [{ ...at, timestampOffset: { path: 'a' } }, 'timestampOffset.unit', 'is required'],
    [{ ...at, timestampOffset: { unit: 's' } }, 'timestampOffset.path', 'is required'],
    [
      { ...at, timestampOffset: { path: 'a', unit: 'min' } },
      'timestampOffset.unit',
      'must be one of',
    ],
    [
      { ...at, timestampOffset: { path: '$topic[0]', unit: 's' } },
      'timestampOffset.path',
      'must lead into the message',
    ],
    [
      { ...at, format: 'senml-json', timestampOptional: true },
      'timestampOptional',
      'has no effect: messages say their times in another way',
    ],
    [
      {
        ...at,
        items: { path: 'values', as: 'samples', start: 't0', interval: 1 },
        timestampOffset: { path: 'a', unit: 's' },
      },
      'timestampOffset',
      'has no effect: items say the times of their readings',
    ],
  ])('are refused where they say nothing: %j', (source, key, problem) => {
    expect(problemsOf(source)).toEqual({
      [`source.${key}`]: expect.stringContaining(problem) as string,
    })
  })

  test('are those of what writes no time itself', () => {
    const opcua = {
      protocol: 'opcua',
      endpoint: 'opc.tcp://plant:4840',
      items: [{ field: 'temperature', nodeId: 'ns=2;s=a' }],
    }
    expect(problemsOf(opcua, 'manufacturing')).toEqual({})
    for (const key of ['timezone', 'timestampOptional', 'timestampMin', 'timestampOffset']) {
      expect(problemsOf({ ...opcua, [key]: 'x' }, 'manufacturing')).toHaveProperty(`source.${key}`)
    }
    expect(problemsOf({ ...opcua, timestampField: 'a.b' }, 'manufacturing')).toEqual({
      'source.timestampField': 'must be the name of a field, and no path',
    })
  })

  test('take a time of Kafka as it is written', () => {
    const kafka = { protocol: 'kafka', endpoint: 'kafka://plant', topic: 'a', group: 'us' }
    const source = { ...kafka, timestampField: '$time' }
    expect(problemsOf(source, 'event_stream')).toEqual({})
    expect(problemsOf({ ...source, timestampFormat: 'epoch_ms' }, 'event_stream')).toEqual({
      'source.timestampFormat': 'must be rfc3339 with $time, which is written so',
    })
  })
})

describe('the type of the field that has the time', () => {
  test.each<[string, object, boolean]>([
    ['local', { at: { type: 'string' } }, true],
    ['local', { at: { type: 'datetime' } }, false],
    ['dd.MM.yyyy', { at: { type: 'number' } }, false],
    ['epoch_ns', { at: { type: 'string' } }, true],
    ['epoch_s', { at: { type: 'integer' } }, true],
    ['epoch_s', { at: { type: 'boolean' } }, false],
    ['epoch_s', { at: { type: 'boolean', from: 'other' } }, true],
    ['rfc3339', { at: { type: 'datetime' } }, true],
  ])('goes with the format %s: %j', (timestampFormat, schema, isTaken) => {
    const problems = problemsOf({ ...at, timestampFormat }, 'iot_sensor', schema)
    expect(Object.keys(problems)).toEqual(isTaken ? [] : ['schema.at.type'])
  })

  test('is looked at within objects and lists, too', () => {
    const schema = {
      params: { type: 'object', fields: { list: { type: 'array', items: { type: 'boolean' } } } },
    }
    const source = { timestampField: 'params.list[0]', timestampFormat: 'epoch_s' }
    expect(problemsOf(source, 'iot_sensor', schema)).toEqual({
      'schema.params.fields.list.items.type': 'cannot hold a time in the format epoch_s',
    })
  })
})

describe('a version that was stored', () => {
  const definition = { ...parsed({ ...at, timestampFormat: 'epoch_s' }), conversions: {} }

  test('has the rules that it was checked by', () => {
    const stored = JSON.parse(versionedJson(definition)) as VersionedDefinition
    expect(schemaOf(stored)).toEqual(schemaOf(definition))
    expect(schemaOf(stored).time).toEqual({ isRequired: true })
  })

  test('before there were rules has none, and is stored without them again', () => {
    const { rules: _, ...before } = definition
    const stored = JSON.parse(versionedJson(before)) as VersionedDefinition
    expect(schemaOf(stored)).not.toHaveProperty('time')
    expect(JSON.parse(versionedJson(stored))).toEqual(stored)
  })

  test('before there were rules is warned of names that will be paths', () => {
    const source = { timestampField: 'params.ts' }
    expect(definitionWarnings({ source, schema: { params: { type: 'object' } } })).toEqual([
      'source.timestampField: is the name of a field: it is followed as a path once the definition is changed',
    ])
    expect(
      definitionWarnings({ source, schema: { params: { type: 'object' } }, rules: 1 }),
    ).toEqual([])
  })
})
