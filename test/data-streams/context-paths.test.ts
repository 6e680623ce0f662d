import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sourceKinds } from '../../connectors/sources.ts'
import { contextTexts, isCredential } from '../../src/contracts/context-texts.ts'
import { parsePath } from '../../src/contracts/path.ts'
import { DomainError, type ErrorDetail } from '../../src/core/errors.ts'
import { contextProblem, contextReadBy } from '../../src/streams/data-streams/context-paths.ts'
import { parseDefinition } from '../../src/streams/data-streams/definition.ts'

const kafka = { endpoint: 'kafka://broker.example:9092', protocol: 'kafka', topic: 'readings' }
const modbus = {
  protocol: 'modbus',
  endpoint: 'modbus://plc.example:502',
  schedule: '* * * * *',
  registers: [{ field: 'level', address: 1, type: 'uint16' }],
}

function problemsOf(type: string, source: object, from: unknown): readonly ErrorDetail[] {
  const definition = {
    name: 'Boiler',
    vaultId: '01234567-89ab-4def-8123-456789abcdef',
    type,
    source,
    schema: { level: { type: 'number', from } },
  }
  try {
    parseDefinition(definition)
    return []
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return error.details ?? []
  }
}

describe('a field whose path begins beside the message', () => {
  test.each<[string, object, string]>([
    ['iot_sensor', {}, '$topic[1]'],
    ['iot_sensor', {}, "$header['x-device']"],
    ['iot_sensor', {}, "$query['id']"],
    ['iot_sensor', { endpoint: 'mqtt://broker.example', topic: 'a/+' }, '$topic[-1]'],
    ['event_stream', kafka, '$key'],
    ['event_stream', kafka, '$time'],
    ['event_stream', kafka, '$event'],
    ['event_stream', kafka, '$topic'],
  ])('is taken where messages may have it: %s %j %s', (type, source, path) => {
    expect(problemsOf(type, source, path)).toEqual([])
  })

  test.each<[string, object, string, string]>([
    ['iot_sensor', {}, '$key', '$key'],
    ['iot_sensor', {}, '$time', '$time'],
    ['event_stream', kafka, "$query['id']", '$query'],
    ['manufacturing', modbus, "$header['a']", '$header'],
    ['manufacturing', modbus, '$topic', '$topic'],
  ])('is refused where none can have it: %s %j %s', (type, source, path, root) => {
    const message = expect.stringContaining(`have no ${root}: of one is known`) as string
    expect(problemsOf(type, source, path)).toEqual([{ path: 'schema.level.from', message }])
    expect(problemsOf(type, source, ['level', path])).toEqual([
      { path: 'schema.level.from.1', message },
    ])
  })

  test('is refused in the types of events as well, by its place there', () => {
    const source = {
      ...kafka,
      eventTypes: { open: { door: { type: 'string', from: "$query['a']" } } },
    }
    expect(problemsOf('event_stream', source, undefined)).toContainEqual({
      path: 'source.eventTypes.open.door.from',
      message: expect.stringContaining('have no $query') as string,
    })
  })

  test.each(['authorization', 'X-Api-Key', 'cookie', 'x-auth-token', 'apiKey'])(
    'is refused where it is a credential: %s',
    (name) => {
      const message = expect.stringContaining('may be a credential') as string
      for (const root of ['$header', '$query']) {
        const path = `${root}['${name}']`
        expect(problemsOf('iot_sensor', {}, path)).toEqual([{ path: 'schema.level.from', message }])
      }
    },
  )

  test('is judged alike for every kind of source', () => {
    const roots = ['topic', 'header', 'query', 'key', 'time', 'event'] as const
    const named = { topic: '$topic', header: '$header.a', query: '$query.a' }
    for (const { family, protocols, tells = [] } of sourceKinds) {
      const type = family === 'api' ? 'api_pull' : 'manufacturing'
      // What is told by several kinds of one protocol is in the definitions above.
      if (protocols.length !== 1 || protocols[0] === 'postgres') continue
      for (const root of roots) {
        const path = parsePath({ key: '$key', time: '$time', event: '$event', ...named }[root])
        if ('problem' in path) throw new Error(path.problem)
        const source = { protocol: protocols[0], endpoint: 'x' }
        const isTold = contextProblem(path, { type, source }) === undefined
        expect([protocols[0], root, isTold]).toEqual([protocols[0], root, tells.includes(root)])
      }
    }
  })
})

test.each(['plain', 'csv', 'senml-json', 'sparkplug'])(
  'levels are refused in messages that are no trees: %s',
  (format) => {
    const more = { csv: { columns: ['level'] }, sparkplug: { topic: 'spBv1.0/g/+/n/#' } }
    const source = { format, items: 'rows', ...more[format as keyof typeof more] }
    expect(problemsOf('iot_sensor', source, undefined)).toContainEqual({
      path: 'source.items',
      message: expect.stringContaining('has no effect with') as string,
    })
  },
)

test('a level gives nothing a name that no field can have', () => {
  const items = { path: 'rows', as: 'map', key: '__proto__' }
  expect(problemsOf('iot_sensor', { items }, undefined)).toContainEqual({
    path: 'source.items.key',
    message: 'is not a name of a field',
  })
})

test('the table of docs/payload-formats.md has what each kind of source tells', () => {
  const page = readFileSync('docs/payload-formats.md', 'utf8')
  const [, table = ''] = /<!-- beside a message -->\n(.*?)<!-- end -->/s.exec(page) ?? []
  const [head = [], , ...rows] = table
    .trim()
    .split('\n')
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
  const shown = rows.map(([source = '', ...cells]) => [
    source.startsWith('devices') ? 'mqtt' : source.replaceAll('`', ''),
    head
      .slice(1)
      .filter((_, at) => cells[at] === 'yes')
      .map((root) => root.slice(2, -1)),
  ])
  const told = sourceKinds.flatMap(({ protocols: [protocol], tells }) =>
    tells === undefined ? [] : [[protocol, tells]],
  )
  expect(shown).toEqual(expect.arrayContaining(told))
  expect(shown.length).toBe(told.length)
})

test('what a schema reads beside its messages is what its fields and its time begin at', () => {
  const base = {
    validation: 'lenient',
    timestampField: '$time',
    timestampFormat: 'rfc3339',
  } as const
  const fields = {
    site: { type: 'string', from: ['a.b', '$topic[0]'] },
    level: { type: 'number', from: '$parent.level' },
  } as const
  expect(contextReadBy({ ...base, fields })).toEqual(new Set(['topic']))
  const timed = { ...base, fields, time: { isRequired: true } }
  expect(contextReadBy(timed)).toEqual(new Set(['topic', 'time']))
  expect(contextReadBy({ ...base, fields: { level: { type: 'number' } } })).toBeUndefined()
})

describe('texts beside a message', () => {
  const names = fc.oneof(
    fc.constantFrom('authorization', 'x-api-secret', 'cookie', 'x-access-token', 'host', 'a'),
    fc.string({ unit: 'grapheme-ascii' }),
  )
  const texts = fc.array(fc.tuple(names, fc.oneof(fc.string(), fc.array(fc.string()))))

  test('have no credential, and are as they came', () => {
    fc.assert(
      fc.property(texts, (given) => {
        const kept = contextTexts(given)
        expect(Object.keys(kept).filter(isCredential)).toEqual([])
        for (const [name] of given.filter(([one]) => !isCredential(one))) {
          const values = given
            .filter(([other]) => other === name)
            .flatMap(([, value]) => [value].flat().join(', '))
          expect(Object.getOwnPropertyDescriptor(kept, name)?.value).toBe(values.join(', '))
        }
      }),
    )
  })

  test('are bounded', () => {
    const many = Array.from({ length: 1_000 }, (_, at) => [`h${at}`, 'x'] as const)
    expect(Object.keys(contextTexts(many)).length).toBe(100)
    expect(contextTexts([['large', 'x'.repeat(20_000)]])).toEqual({})
  })
})
