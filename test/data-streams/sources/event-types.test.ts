import { describe, expect, test } from 'vitest'
import type { ErrorDetail } from '../../../src/core/errors.ts'
import { parseSchema } from '../../../src/streams/data-streams/definition.ts'
import { parseSource } from '../../../src/streams/data-streams/source.ts'

function parsed(source: object, schema?: object) {
  const found: ErrorDetail[] = []
  const whole = { protocol: 'sse', endpoint: 'https://plant.example/events', ...source }
  const read = parseSource(whole, 'event_stream', found)
  const fields = parseSchema({ schema }, { type: 'event_stream', source: read }, found)
  return { fields, wrong: found.map(({ path }) => path) }
}

const eventTypes = {
  opened: { door: { type: 'string', required: true } },
  counted: { people: { type: 'integer', max: 100, unit: 'count' }, door: { type: 'string' } },
}

describe('types of events', () => {
  test('are one schema together: what one may not have, another may', () => {
    const fields = {
      type: { type: 'string' },
      door: { type: 'string' },
      people: { type: 'integer', unit: 'count' },
    }
    expect(parsed({ eventTypes })).toEqual({ fields, wrong: [] })
    expect(parsed({ eventTypes }, fields).wrong).toEqual([])
    expect(parsed({ eventTypes, eventTypeField: 'kind' }).fields).toHaveProperty('kind')
  })

  test.each<[object, string]>([
    [{ eventTypes: {} }, 'source.eventTypes'],
    [{ eventTypes: { '': { door: { type: 'string' } } } }, 'source.eventTypes'],
    [{ eventTypes: { opened: { door: { type: 'float' } } } }, 'source.eventTypes.opened.door.type'],
    [
      { eventTypes: { a: { door: { type: 'string' } }, b: { door: { type: 'number' } } } },
      'source.eventTypes.b.door',
    ],
    [
      {
        eventTypes: {
          a: { heat: { type: 'number', unit: 'K' } },
          b: { heat: { type: 'number', unit: 'degC' } },
        },
      },
      'source.eventTypes.b.heat',
    ],
    [
      { eventTypes: { a: { door: { type: 'string' } }, b: { Door: { type: 'string' } } } },
      'source.eventTypes.b.Door',
    ],
    [{ eventTypes: { opened: { type: { type: 'number' } } } }, 'source.eventTypes.opened.type'],
    [{ eventTypes, eventTypeField: 'a-b' }, 'source.eventTypeField'],
    [{ eventTypes, eventTypeField: 'at', timestampField: 'at' }, 'source.timestampField'],
    [{ eventTypes, timestampField: 'type' }, 'source.timestampField'],
  ])('cannot be %j: %s is named', (source, path) => {
    expect(parsed(source).wrong).toEqual([path])
  })

  test('have a field only where there are some', () => {
    const found = parsed({ eventTypeField: 'kind' }, { door: { type: 'string' } })
    expect(found.wrong).toEqual(['source.eventTypeField'])
  })

  test('are the schema, and no other is', () => {
    expect(parsed({ eventTypes }, { door: { type: 'string' } }).wrong).toEqual(['schema'])
  })
})
