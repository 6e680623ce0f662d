import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import type { ErrorDetail } from '../../../src/core/errors.ts'
import { parseSource } from '../../../src/streams/data-streams/source.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { TemporaryFolder } from '../../support/temporary-folder.ts'

const queue = { protocol: 'amqp', endpoint: 'amqp://mq.example.com:5672/plant', topic: 'boilers' }
const { topic: _, ...anyQueue } = queue
const exchange = { ...anyQueue, exchange: 'plants' }

function problemsOf(source: object): readonly string[] {
  const found: ErrorDetail[] = []
  parseSource(source, 'event_stream', found)
  return found.map(({ path }) => path)
}

/** A certificate with its key. */
function certified() {
  using folder = new TemporaryFolder()
  const { authority, keyPath } = makeCertificate(folder.path)
  return { certificate: authority, privateKey: readFileSync(keyPath, 'utf8') }
}

describe('the source of a queue of AMQP', () => {
  test.each([
    {},
    { endpoint: 'amqp://mq.example.com' },
    { endpoint: 'amqps://[2001:db8::1]:5671/plants%2F7', tls: { servername: 'mq.example.com' } },
    { queueType: 'stream', prefetch: 10_000 },
    { credentials: { username: 'vault', password: 'hunter2' } },
    { endpoint: 'amqps://mq.example.com', credentials: certified() },
    { timestampField: 'at', format: 'cbor' },
  ])('may have %j', (more) => {
    expect(problemsOf({ ...queue, ...more })).toEqual([])
  })

  test.each([
    {},
    { routingKey: '' },
    { routingKey: 'plants.*.boiler', group: 'vault', queueType: 'quorum' },
    { bindings: [{}, { routingKey: 'a.#' }, { arguments: { 'x-match': 'any', floor: 7 } }] },
  ])('may have an exchange instead, with %j', (more) => {
    expect(problemsOf({ ...exchange, ...more })).toEqual([])
  })

  test.each([
    [{ endpoint: 'mqtt://mq.example.com' }, 'source.endpoint'],
    [{ endpoint: 'amqp://vault:hunter2@mq.example.com' }, 'source.endpoint'],
    [{ endpoint: 'amqp://mq.example.com/a/b' }, 'source.endpoint'],
    [{ endpoint: 'amqp://mq.example.com/%' }, 'source.endpoint'],
    [{ endpoint: 'amqp://mq.example.com/a?heartbeat=0' }, 'source.endpoint'],
    [{ endpoint: undefined }, 'source.endpoint'],
    [{ topic: '' }, 'source.topic'],
    [{ topic: 'ä'.repeat(128) }, 'source.topic'],
    [{ topic: undefined }, 'source.topic'],
    [{ exchange: 'plants' }, 'source.topic'],
    [{ group: 'vault' }, 'source.group'],
    [{ routingKey: 'a' }, 'source.routingKey'],
    [{ queueType: 'lazy' }, 'source.queueType'],
    [{ prefetch: 0 }, 'source.prefetch'],
    [{ prefetch: 10_001 }, 'source.prefetch'],
    [{ tls: {} }, 'source.tls'],
    [{ credentials: certified() }, 'source.credentials.certificate'],
    [{ credentials: { username: 'vault' } }, 'source.credentials'],
    [{ format: 'sparkplug' }, 'source.format'],
    [{ isTrial: true }, 'source.isTrial'],
  ])('does not have %j', (more, path) => {
    expect(problemsOf({ ...queue, ...more })).toEqual([path])
  })

  test.each([
    [{ group: 'amq.gen-1' }, 'source.group'],
    [{ routingKey: 'a'.repeat(256) }, 'source.routingKey'],
    [{ routingKey: 'a', bindings: [{}] }, 'source.routingKey'],
    [{ bindings: [] }, 'source.bindings'],
    [{ bindings: Array.from({ length: 101 }, () => ({})) }, 'source.bindings'],
    [{ bindings: ['a'] }, 'source.bindings.0'],
    [{ bindings: [{}, { routingKey: 7 }] }, 'source.bindings.1.routingKey'],
    [{ bindings: [{ key: 'a' }] }, 'source.bindings.0.key'],
    [{ bindings: [{ arguments: { floor: [7] } }] }, 'source.bindings.0.arguments'],
  ])('does not have an exchange with %j', (more, path) => {
    expect(problemsOf({ ...exchange, ...more })).toEqual([path])
  })
})
