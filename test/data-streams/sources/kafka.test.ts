import { describe, expect, test } from 'vitest'
import type { ErrorDetail } from '../../../src/core/errors.ts'
import { parseSource } from '../../../src/streams/data-streams/source.ts'

function wrongIn(source: object): readonly string[] {
  const found: ErrorDetail[] = []
  const whole = { protocol: 'kafka', endpoint: 'kafka://a:9092', topic: 'plant', ...source }
  parseSource(whole, 'event_stream', found)
  return found.map(({ path }) => path)
}

const credentials = { username: 'plant', password: 'secret' }

describe('a source of Kafka', () => {
  test.each<object>([
    {},
    { endpoint: 'kafka://a.example:9092,b.example,[::1]:9093' },
    { topic: 'plant.7,plant_8,plant-9', group: 'vault', startFrom: 'latest' },
    { tls: true, credentials },
    { tls: { servername: 'b' }, credentials: { ...credentials, type: 'scram-sha-512' } },
  ])('can be %j', (source) => {
    expect(wrongIn(source)).toEqual([])
  })

  test.each<[object, string]>([
    [{ endpoint: undefined }, 'source.endpoint'],
    [{ endpoint: 'http://a:9092' }, 'source.endpoint'],
    [{ endpoint: 'kafka://' }, 'source.endpoint'],
    [{ endpoint: 'kafka://a:0' }, 'source.endpoint'],
    [{ endpoint: 'kafka://a:65536' }, 'source.endpoint'],
    [{ endpoint: 'kafka://a:9092,' }, 'source.endpoint'],
    [{ endpoint: 'kafka://a:9092/path' }, 'source.endpoint'],
    [{ endpoint: 'kafka://user:secret@a:9092' }, 'source.endpoint'],
    [{ endpoint: `kafka://${'a,'.repeat(20)}a` }, 'source.endpoint'],
    [{ topic: undefined }, 'source.topic'],
    [{ topic: '' }, 'source.topic'],
    [{ topic: 'a,,b' }, 'source.topic'],
    [{ topic: '..' }, 'source.topic'],
    [{ topic: 'a b' }, 'source.topic'],
    [{ topic: 'a'.repeat(250) }, 'source.topic'],
    [{ group: '' }, 'source.group'],
    [{ group: 'a\nb' }, 'source.group'],
    [{ startFrom: 'now' }, 'source.startFrom'],
    [{ tls: false }, 'source.tls'],
    [{ tls: { key: 'x' } }, 'source.tls.key'],
    [{ credentials: { ...credentials, type: 'kerberos' } }, 'source.credentials.type'],
    [{ credentials: { type: 'plain' } }, 'source.credentials'],
    [{ credentials: { username: 'plant' } }, 'source.credentials'],
    [{ credentials: 'secret' }, 'source.credentials'],
    [{ format: 'sparkplug' }, 'source.format'],
    [{ other: 1 }, 'source.other'],
  ])('cannot be %j: %s is named', (source, path) => {
    expect(wrongIn(source)).toContain(path)
  })
})
