import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kafka } from '../../connectors/kafka/kafka.ts'
import { freePort } from '../../scripts/servers/free-port.ts'
import type { FetchedMessage } from '../../src/contracts/fetch-connector.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { makeAuthority } from '../support/certificate.ts'
import { dialOf } from '../support/dial-of.ts'
import { isKafkaMissing, Kafka } from '../support/kafka.ts'
import { numbered, numbersFrom } from '../support/read-topic.ts'
import { RecordedRun } from '../support/recorded-run.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const patience = { timeout: 60_000, interval: 20 }

const [username, password] = ['plant', 'hunter2-of-the-test']

/** Where a broker says it is, and nobody would find it. */
const [elsewhere, elsewherePort] = ['broker.invalid', 9_999]

const module = (name: string) =>
  `org.apache.kafka.common.security.${name} required username="${username}" password="${password}"`

const login = (type: string, more: object = {}) => ({
  credentials: { type, username, password, ...more },
})

const saslOf = (listener: string) => [
  `listener.name.${listener}.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512`,
  `listener.name.${listener}.plain.sasl.jaas.config=${module('plain.PlainLoginModule')} user_${username}="${password}";`,
  ...['256', '512'].map(
    (bits) =>
      `listener.name.${listener}.scram-sha-${bits}.sasl.jaas.config=${module('scram.ScramLoginModule')};`,
  ),
]

describe.skipIf(isKafkaMissing)('a Kafka that does not let in everybody', () => {
  const folder = new TemporaryFolder()
  const authority = makeAuthority(folder.path, 'authority')
  const client = authority.sign('vault')
  const ca = readFileSync(authority.certPath, 'utf8')
  let ports: Record<'outside' | 'ssl' | 'sasl' | 'saslSsl', number>
  let server: Kafka
  let topic: string

  beforeAll(async () => {
    ports = {
      outside: await freePort(),
      ssl: await freePort(),
      sasl: await freePort(),
      saslSsl: await freePort(),
    }
    const { cert, key } = authority.signServer('IP:127.0.0.1')
    const keyStore = join(folder.path, 'server.pem')
    writeFileSync(keyStore, key + cert)
    server = await Kafka.start(async () => ({
      users: { [username]: password },
      listeners: {
        PLAINTEXT: `OUTSIDE://127.0.0.1:${ports.outside}`,
        SSL: `SECURE://127.0.0.1:${ports.ssl}`,
        SASL_PLAINTEXT: `SASL://127.0.0.1:${ports.sasl}`,
        SASL_SSL: `SASLSECURE://127.0.0.1:${ports.saslSsl}`,
      },
      advertised: { OUTSIDE: `${elsewhere}:${elsewherePort}` },
      settings: [
        'ssl.keystore.type=PEM',
        `ssl.keystore.location=${keyStore}`,
        'ssl.truststore.type=PEM',
        `ssl.truststore.location=${authority.certPath}`,
        'listener.name.secure.ssl.client.auth=required',
        ...saslOf('sasl'),
        ...saslOf('saslsecure'),
      ],
    }))
    topic = await server.newTopic(2)
    await server.produce(
      topic,
      numbersFrom(0, 20).map((n) => ({ value: numbered(n), partition: n % 2 })),
    )
  })

  afterAll(async () => {
    await server[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  function open(port: number, more: object) {
    const source = { protocol: 'kafka', endpoint: `kafka://127.0.0.1:${port}`, topic, ...more }
    return kafka.open({ streamId: newId<StreamId>(), source })
  }

  test.each<[string, () => [number, object]]>([
    ['PLAIN', () => [ports.sasl, login('plain')]],
    ['SCRAM-SHA-256', () => [ports.sasl, login('scram-sha-256')]],
    ['SCRAM-SHA-512 over TLS', () => [ports.saslSsl, { ...login('scram-sha-512'), tls: { ca } }]],
    [
      'a certificate',
      () => [
        ports.ssl,
        { tls: { ca }, credentials: { certificate: client.cert, privateKey: client.key } },
      ],
    ],
  ])('is read with %s', async (_, given) => {
    const [port, more] = given()
    await using run = new RecordedRun(open(port, more), port)
    await expect.poll(() => run.messages.length, patience).toBe(20)
  })

  test.each<[string, () => [number, object], RegExp]>([
    [
      'another password',
      () => [ports.sasl, login('plain', { password: 'another-of-the-test' })],
      /^SourceRefused: .*does not know this user name/,
    ],
    [
      'another password of SCRAM',
      () => [ports.sasl, login('scram-sha-256', { password: 'another-of-the-test' })],
      /^SourceRefused: .*does not know this user name/,
    ],
    ['nothing where something is asked for', () => [ports.sasl, {}], /has closed the connection/],
    ['TLS where there is none', () => [ports.sasl, { tls: { ca }, ...login('plain') }], /Error/],
    [
      'no trust',
      () => [ports.saslSsl, { tls: true, ...login('plain') }],
      /certificate|self-signed/,
    ],
    [
      'the name of somebody else',
      () => [ports.saslSsl, { tls: { ca, servername: 'other.example' }, ...login('plain') }],
      /altnames/,
    ],
  ])('is not read with %s', async (_, given, reason) => {
    const [port, more] = given()
    const failure = await new RecordedRun(open(port, more), port).ended
    expect(String(failure)).toMatch(reason)
    expect(String(failure)).not.toMatch(/of-the-test/)
  })

  test('is reached by the way out that is given and by no other, wherever it says that it is', async () => {
    const dialed: string[] = []
    const messages: FetchedMessage[] = []
    const stop = new AbortController()
    const dial = dialOf(async ({ host, port }) => {
      dialed.push(`${host}:${port}`)
      const socket = connect({ host: '127.0.0.1', port: ports.outside })
      await once(socket, 'connect')
      return socket
    })
    let sockets = 0
    const count = () => sockets++
    subscribe('net.client.socket', count)
    const source = open(ports.outside, {})
    const run = source.run({
      dial,
      signal: stop.signal,
      position: undefined,
      accept: async (some) => {
        messages.push(...some)
        return []
      },
      onRunning: () => undefined,
      onHeldUp: () => undefined,
      onWaiting: () => undefined,
      onRound: () => undefined,
      wish: { grant: () => false, listen: () => () => undefined },
      nowUs: () => Date.now() * 1_000,
    })
    await expect.poll(() => messages.length, patience).toBe(20)
    stop.abort()
    await run
    await source.release?.({ dial, signal: AbortSignal.timeout(60_000) })
    unsubscribe('net.client.socket', count)
    expect([...new Set(dialed)]).toEqual([
      `127.0.0.1:${ports.outside}`,
      `${elsewhere}:${elsewherePort}`,
    ])
    expect(sockets).toBe(dialed.length)
  })
})
