import { describe, expect, test } from 'vitest'
import type { ErrorDetail } from '../../../src/core/errors.ts'
import { parseSource } from '../../../src/streams/data-streams/source.ts'

const plain = { protocol: 'redis', endpoint: 'redis://db.example:6379/2', topic: 'plant:boiler' }
const secure = { ...plain, endpoint: 'rediss://db.example' }

function problemsOf(source: Readonly<Record<string, unknown>>): readonly string[] {
  const found: ErrorDetail[] = []
  parseSource(source, 'event_stream', found)
  return found.map(({ path }) => path)
}

describe('the source of a stream of Redis', () => {
  test.each<[object]>([
    [{}],
    [{ endpoint: 'redis://[2606:2800::1]/' }],
    [{ group: 'vault', startFrom: 'earliest', payloadField: 'body', timestampField: 'at' }],
    [{ credentials: { password: 'hunter2' } }],
    [{ credentials: { username: 'vault', password: 'hunter2' } }],
    [{ ...secure, tls: { servername: 'db' } }],
    [{ format: 'csv', columns: ['a', 'b'] }],
    [{ format: 'cbor', payloadField: 'body' }],
    [{ eventTypes: { measured: { value: { type: 'number' } } } }],
  ])('may have %j', (more) => {
    expect(problemsOf({ ...plain, ...more })).toEqual([])
  })

  test.each<[object, string]>([
    [{ endpoint: undefined }, 'source.endpoint'],
    [{ endpoint: 'http://db.example' }, 'source.endpoint'],
    [{ endpoint: 'redis://:hunter2@db.example' }, 'source.endpoint'],
    [{ endpoint: 'redis://db.example/plant' }, 'source.endpoint'],
    [{ endpoint: 'redis://db.example/0?password=hunter2' }, 'source.endpoint'],
    [{ topic: undefined }, 'source.topic'],
    [{ topic: ['a', 'b'] }, 'source.topic'],
    [{ startFrom: 'now' }, 'source.startFrom'],
    [{ credentials: { username: 'vault' } }, 'source.credentials'],
    [{ credentials: {} }, 'source.credentials'],
    [{ credentials: { password: 'a', token: 'b' } }, 'source.credentials.token'],
    [{ tls: {} }, 'source.tls'],
    [{ format: 'cbor' }, 'source.payloadField'],
    [{ isTrial: true }, 'source.isTrial'],
  ])('does not have %j', (more, path) => {
    expect(problemsOf({ ...plain, ...more })).toEqual([path])
  })
})
