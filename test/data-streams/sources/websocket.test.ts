import { describe, expect, test } from 'vitest'
import type { ErrorDetail } from '../../../src/core/errors.ts'
import { parseSource } from '../../../src/streams/data-streams/source.ts'
import { withoutSecrets } from '../../../src/streams/data-streams/source-secrets.ts'

const base = { protocol: 'websocket', endpoint: 'wss://plant.example/feed' }

/** The paths of what is wrong with a source, sorted. */
function wrong(source: object): string[] {
  const found: ErrorDetail[] = []
  parseSource({ ...base, ...source }, 'event_stream', found)
  return found.map(({ path }) => path.replace('source.', '')).toSorted()
}

const resumed = { subscribe: { after: '{cursor}' }, cursorField: 'meta.id' }
const signed = { subscribe: ['{token}', { op: 'all' }], credentials: { token: 'hush' } }

describe('a source of messages over a WebSocket', () => {
  test.each<object>([
    {},
    { endpoint: 'ws://plant.example:8080/feed?a=b' },
    { headers: { Origin: 'https://plant.example' } },
    { authentication: { type: 'basic', username: 'a', password: 'b' } },
    { tls: { servername: 'plant.example' } },
    { subprotocol: 'v1.plant' },
    { subscribe: 'hello', heartbeat: '10s' },
    resumed,
    { ...resumed, cursorStart: 0 },
    { ...resumed, cursorStart: 'first' },
    signed,
    withoutSecrets(signed),
  ])('can be %j', (source) => {
    expect(wrong(source)).toEqual([])
  })

  test('keeps its token a secret', () => {
    expect(withoutSecrets(signed)).toEqual({ ...signed, credentials: { token: '********' } })
  })

  test.each<[object, string]>([
    [{ endpoint: undefined }, 'endpoint'],
    [{ endpoint: 'https://plant.example/' }, 'endpoint'],
    [{ endpoint: 'wss://a:b@plant.example/' }, 'endpoint'],
    [{ headers: { 'Sec-WebSocket-Key': 'a' } }, 'headers.Sec-WebSocket-Key'],
    [{ endpoint: 'ws://plant.example/', tls: {} }, 'tls'],
    [{ subprotocol: 'a, b' }, 'subprotocol'],
    [{ subscribe: '' }, 'subscribe'],
    [{ subscribe: [] }, 'subscribe'],
    [{ subscribe: ['a', 7] }, 'subscribe'],
    [{ subscribe: Array.from({ length: 21 }, () => 'a') }, 'subscribe'],
    [{ subscribe: 'a'.repeat(70_000) }, 'subscribe'],
    [{ subscribe: { after: '{cursor}' } }, 'cursorField'],
    [{ subscribe: 'all', cursorField: 'id' }, 'cursorField'],
    [{ ...resumed, cursorField: 'a..b' }, 'cursorField'],
    [{ ...resumed, cursorStart: 0.5 }, 'cursorStart'],
    [{ subscribe: 'all', cursorStart: 0 }, 'cursorStart'],
    [{ subscribe: '{token}' }, 'credentials'],
    [{ subscribe: 'all', credentials: { token: 'a' } }, 'credentials'],
    [{ ...signed, credentials: { password: 'a' } }, 'credentials.password'],
    [{ heartbeat: '2h' }, 'heartbeat'],
    [{ format: 'sparkplug' }, 'format'],
  ])('cannot be %j', (source, path) => {
    expect(wrong(source)).toContain(path)
  })
})
