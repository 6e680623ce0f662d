import { describe, expect, test } from 'vitest'
import type { ErrorDetail } from '../../../src/core/errors.ts'
import { parseSource } from '../../../src/streams/data-streams/source.ts'

const base = { protocol: 'sse', endpoint: 'https://plant.example/events' }

/** The paths of what is wrong with a source, sorted. */
function wrong(source: object): string[] {
  const found: ErrorDetail[] = []
  parseSource({ ...base, ...source }, 'event_stream', found)
  return found.map(({ path }) => path.replace('source.', '')).toSorted()
}

describe('a source of Server-Sent Events', () => {
  test.each<object>([
    {},
    { endpoint: 'http://plant.example:8080/events?since=0' },
    { headers: { 'Last-Event-ID': '7', accept: 'text/event-stream' } },
    { authentication: { type: 'bearer', token: 'a' } },
    { tls: { servername: 'plant.example' } },
    { timeout: '1h' },
    {
      eventTypes: { add: { number: { type: 'integer' } } },
      timestampField: 'at',
      format: 'ndjson',
    },
  ])('can be %j', (source) => {
    expect(wrong(source)).toEqual([])
  })

  test.each<[object, string]>([
    [{ endpoint: undefined }, 'endpoint'],
    [{ endpoint: 'ws://plant.example/' }, 'endpoint'],
    [{ endpoint: 'https://a:b@plant.example/' }, 'endpoint'],
    [{ headers: { 'accept-encoding': 'gzip' } }, 'headers.accept-encoding'],
    [{ authentication: { type: 'bearer' } }, 'authentication.token'],
    [{ endpoint: 'http://plant.example/', tls: {} }, 'tls'],
    [{ timeout: '2h' }, 'timeout'],
    [{ timeout: '0s' }, 'timeout'],
    [{ format: 'sparkplug' }, 'format'],
    [{ topic: 'a' }, 'topic'],
    [{ credentials: { token: 'a' } }, 'credentials'],
  ])('cannot be %j', (source, path) => {
    expect(wrong(source)).toContain(path)
  })
})
