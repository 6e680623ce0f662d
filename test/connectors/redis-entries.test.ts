import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { EntryMessages } from '../../connectors/redis-stream/entries.ts'
import { compareIds } from '../../connectors/redis-stream/entry-ids.ts'
import { redisStreamOptions } from '../../connectors/redis-stream/options.ts'
import { LargeText } from '../../connectors/redis-stream/replies.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'

type Json = Readonly<Record<string, unknown>>
type Fields = Readonly<Record<string, string | Uint8Array | LargeText>>

function messageOf(fields: Fields | undefined, more: Json = {}) {
  const source = { protocol: 'redis', endpoint: 'redis://db.example', topic: 'boiler', ...more }
  const messages = new EntryMessages(redisStreamOptions({ streamId: newId<StreamId>(), source }))
  const texts = fields && Object.entries(fields).flat()
  const message = messages.messageOf({
    id: '7-0',
    texts: texts?.map((text) => (typeof text === 'string' ? Buffer.from(text) : text)),
  })
  return { ...message, payload: Buffer.from(message.payload).toString() }
}

const place = 'entry 7-0 of stream boiler at db.example:6379'
const types = { eventTypes: { measured: { id: { type: 'string' }, value: { type: 'number' } } } }

describe('an entry of a stream of Redis', () => {
  test.each<[string, Fields, Json, string]>([
    ['all its fields', { a: 'on', b: 'off' }, {}, '{"a":"on","b":"off"}'],
    ['numbers, with their digits', { t: '21.50', n: '-3e2' }, {}, '{"t":21.50,"n":-3e2}'],
    ['booleans', { on: 'true', off: 'false' }, {}, '{"on":true,"off":false}'],
    [
      'texts that are none',
      { a: '007', b: '1 ', c: '+1', d: 'NaN', e: '' },
      {},
      '{"a":"007","b":"1 ","c":"+1","d":"NaN","e":""}',
    ],
    [
      'what its fields are said to be',
      { id: '42', value: '42', x: '42' },
      types,
      '{"id":"42","value":42,"x":42}',
    ],
    ['names of any kind', { 'a"b': '\n', __proto__x: 'ü' }, {}, '{"a\\"b":"\\n","__proto__x":"ü"}'],
    ['the field that is named', { at: '5', body: '{"a":1}' }, { payloadField: 'body' }, '{"a":1}'],
    [
      'a line of CSV',
      { b: 'x"y,z', a: '1', d: '2' },
      { format: 'csv', columns: ['a', null, 'b', 'c'] },
      '"1",,"x""y,z",',
    ],
    [
      'a line with other delimiters',
      { a: '1', b: '2' },
      { format: 'csv', columns: ['b', 'a'], delimiter: ';' },
      '"2";"1"',
    ],
  ])('becomes %s', (_, fields, more, payload) => {
    expect(messageOf(fields, more)).toEqual({ payload, source: place })
  })

  test('has any texts in its JSON', () => {
    const texts = fc.dictionary(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: 'binary' }).map((text) => `_${text}`),
    )
    fc.assert(
      fc.property(texts, (fields) => {
        expect(JSON.parse(messageOf(fields).payload)).toEqual({ ...fields })
      }),
    )
  })

  test('says by a field of its own what it is', () => {
    const more = { ...types, payloadField: 'body' }
    expect(messageOf({ type: 'measured', body: '{}' }, more).eventType).toBe('measured')
    const named = { ...more, eventTypeField: 'kind' }
    expect(messageOf({ type: 'no', kind: 'measured', body: '{}' }, named).eventType).toBe(
      'measured',
    )
    expect(messageOf({ body: '{}' }, more)).not.toHaveProperty('eventType')
  })

  test.each<[string, Fields | undefined, Json, RegExp, string]>([
    ['was deleted', undefined, {}, /deleted before/, ''],
    ['lacks the payload', { a: '1' }, { payloadField: 'body' }, /no field body/, 'a\n1\n'],
    [
      'has bytes that are no text',
      { a: Buffer.from([0xff]) },
      {},
      /not a text in UTF-8/,
      'a\n\ufffd\n',
    ],
    [
      'is too large in one field',
      { a: new LargeText(Buffer.from('xy'), 5_000_000) },
      {},
      /5,000,000 bytes/,
      'a\nxy\n',
    ],
    [
      'is too large in its payload',
      { a: new LargeText(Buffer.from('xy'), 5_000_000) },
      { payloadField: 'a' },
      /5,000,000 bytes/,
      'a\nxy\n',
    ],
  ])('that %s is not taken, and said why', (...given) => {
    const [, fields, more, problem, payload] = given
    expect(messageOf(fields, more)).toEqual({
      payload,
      source: place,
      problem: expect.stringMatching(problem),
    })
  })

  test('that is too large in all is kept in part', () => {
    const half = 'x'.repeat(2_500_000)
    const { problem, payload } = messageOf({ a: half, b: half })
    expect(problem).toMatch(/5,000,\d{3} bytes/)
    expect(payload).toHaveLength(64 * 1024)
  })
})

test('ids are in the order of their two numbers', () => {
  const parts = fc.tuple(fc.bigInt(0n, 2n ** 64n - 1n), fc.bigInt(0n, 2n ** 64n - 1n))
  fc.assert(
    fc.property(parts, parts, (one, other) => {
      const [first, second] = [one, other].map(
        ([time, sequence]) => time * 2n ** 64n + sequence,
      ) as [bigint, bigint]
      const order = first < second ? -1 : first > second ? 1 : 0
      expect(compareIds(one.join('-'), other.join('-'))).toBe(order)
    }),
  )
})
