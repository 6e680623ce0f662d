import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { bacnetLibrary } from '../../../connectors/bacnet/library.ts'
import type { ErrorDetail } from '../../../src/core/errors.ts'
import { parseSource, unsupportedSource } from '../../../src/streams/data-streams/source.ts'

const level = { field: 'level', object: 'analog-input:1' }

const whole = {
  protocol: 'bacnet',
  endpoint: 'bacnet://ahu.example:47809',
  objects: [
    { ...level, property: 'present-value', scale: 0.1, offset: -40 },
    { field: 'fault', object: 'analog-input:4194302', property: 103 },
    { field: 'own', object: '1023:0', property: 0 },
  ],
  schedule: '*/5 * * * * *',
  timezone: 'Europe/Berlin',
  jitter: '2s',
  timeout: '20s',
}

function wrongIn(changes: object, type: 'building_systems' | 'iot_sensor' = 'building_systems') {
  const found: ErrorDetail[] = []
  parseSource({ ...whole, ...changes }, type, found)
  return found.map(({ path }) => path)
}

describe('a source of objects', () => {
  test.each(['manufacturing', 'building_systems', 'occupancy'] as const)('can be of %s', (type) => {
    const found: ErrorDetail[] = []
    const source = parseSource(whole, type, found)
    expect(found).toEqual([])
    expect(unsupportedSource(type, source)).toEqual([])
  })

  test('is of no other type', () => {
    expect(wrongIn({}, 'iot_sensor')).toContain('source.protocol')
  })

  test.each<[object, string]>([
    [{ endpoint: undefined }, 'endpoint'],
    [{ endpoint: 'ahu:47808' }, 'endpoint'],
    [{ endpoint: 'bacnet://me:secret@ahu' }, 'endpoint'],
    [{ endpoint: 'bacnet://ahu/1' }, 'endpoint'],
    [{ endpoint: 'bacnet://ahu?device=1' }, 'endpoint'],
    [{ endpoint: 'bacnet://ahu:70000' }, 'endpoint'],
    [{ schedule: undefined }, 'schedule'],
    [{ timeout: '21s' }, 'timeout'],
    [{ timeout: '1m' }, 'timeout'],
    [{ timeout: 5 }, 'timeout'],
    [{ format: 'json' }, 'format'],
    [{ eventTypes: { a: { b: { type: 'number' } } } }, 'eventTypes'],
    [{ topic: 'a' }, 'topic'],
    [{ objects: undefined }, 'objects'],
    [{ objects: [] }, 'objects'],
    [{ objects: { level } }, 'objects'],
    [{ objects: Array.from({ length: 257 }, () => level) }, 'objects'],
  ])('cannot have %j: %s is named', (changes, key) => {
    expect(wrongIn(changes)).toEqual([`source.${key}`])
  })

  test.each<[object, string]>([
    [{ field: 'a-b' }, 'field'],
    [{ field: 'streamId' }, 'field'],
    [{ field: undefined }, 'field'],
    [{ object: undefined }, 'object'],
    [{ object: 'analog-input' }, 'object'],
    [{ object: 'analog-inptu:1' }, 'object'],
    [{ object: 'analog-input:4194303' }, 'object'],
    [{ object: 'analog-input:-1' }, 'object'],
    [{ object: '1024:1' }, 'object'],
    [{ object: 1 }, 'object'],
    [{ property: 'presentvalue' }, 'property'],
    [{ property: -1 }, 'property'],
    [{ property: 4_194_304 }, 'property'],
    [{ property: '85' }, 'property'],
    [{ scale: 0 }, 'scale'],
    [{ scale: '0.1' }, 'scale'],
    [{ offset: 'a' }, 'offset'],
    [{ unit: 'degC' }, 'unit'],
  ])('cannot have an object with %j: %s is named', (changes, key) => {
    const objects = [
      { field: 'other', object: 'analog-input:2' },
      { ...level, ...changes },
    ]
    expect(wrongIn({ objects })).toEqual([`source.objects.1.${key}`])
  })

  test('has each field once, and only objects as objects', () => {
    const again = { field: 'LEVEL', object: 'analog-input:2' }
    expect(wrongIn({ objects: [level, again] })).toEqual(['source.objects.1.field'])
    expect(wrongIn({ objects: [level, 100] })).toEqual(['source.objects.1'])
  })
})

const page = readFileSync('docs/bacnet.md', 'utf8')

/** Names of a sentence of the page. */
function namesIn(sentence: RegExp): readonly string[] {
  const [, names = ''] = sentence.exec(page) ?? []
  return [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)
}

const key = (name: string) => name.toUpperCase().replaceAll('-', '_')

describe('the names of docs/bacnet.md', () => {
  const { ObjectType, PropertyIdentifier } = bacnetLibrary()

  test('are types of objects', () => {
    const names = namesIn(/^Types by name: ([^]*?)\. Others/m)
    expect(names.length).toBeGreaterThan(20)
    const objects = names.map((name, index) => ({ field: `f${index}`, object: `${name}:1` }))
    expect(wrongIn({ objects })).toEqual([])
    expect(names.filter((name) => !(key(name) in ObjectType))).toEqual([])
  })

  test('are properties', () => {
    const names = namesIn(/^Properties by name: ([^]*?)\. Others/m)
    expect(names.length).toBeGreaterThan(15)
    const objects = names.map((property, index) => ({ ...level, field: `f${index}`, property }))
    expect(wrongIn({ objects })).toEqual([])
    expect(names.filter((name) => !(key(name) in PropertyIdentifier))).toEqual([])
  })
})
