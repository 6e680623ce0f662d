import { describe, expect, test } from 'vitest'
import { decoderOf } from '../../processors/decode.ts'
import { withEventType } from '../../processors/event-type.ts'
import type { StreamSchema } from '../../src/contracts/stream-schema.ts'

const schema: StreamSchema = {
  fields: {},
  events: { field: 'kind', types: { opened: { door: { type: 'string' } } } },
  validation: 'lenient',
  timestampField: 'timestamp',
  timestampFormat: 'rfc3339',
}

function named(text: string, eventType: string | undefined, of: StreamSchema = schema): string {
  const decode = decoderOf('json', { schema: of, formatOptions: {} })
  const payload = withEventType(Buffer.from(text), eventType, { schema: of, decode })
  return Buffer.from(payload).toString()
}

describe('the type that a source calls an event by', () => {
  test.each([
    ['{"door":"north"}', '{"kind":"opened","door":"north"}'],
    [' \n{ "door": "north" }', ' \n{"kind":"opened", "door": "north" }'],
    ['{}', '{"kind":"opened"}'],
    ['{ }', '{"kind":"opened" }'],
  ])('is put into %s', (text, expected) => {
    expect(named(text, 'opened')).toBe(expected)
  })

  test('is text, whatever it has in it', () => {
    expect(JSON.parse(named('{"a":1}', '","kind":"x'))).toEqual({ kind: '","kind":"x', a: 1 })
  })

  test.each(['{"kind":"closed"}', '[{"door":"north"}]', '{"door":', '7', ''])(
    'leaves %s',
    (text) => {
      expect(named(text, 'opened')).toBe(text)
    },
  )

  test('is of no use where there is none, or events have no types', () => {
    const { events: _events, ...plain } = schema
    expect(named('{"door":"north"}', undefined)).toBe('{"door":"north"}')
    expect(named('{"door":"north"}', 'opened', plain)).toBe('{"door":"north"}')
  })
})
