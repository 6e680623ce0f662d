import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import type { ErrorDetail } from '../../../src/core/errors.ts'
import { parseSource } from '../../../src/streams/data-streams/source.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { TemporaryFolder } from '../../support/temporary-folder.ts'

const folder = new TemporaryFolder()
afterAll(() => folder[Symbol.dispose]())

const [ours, theirs] = ['ours', 'theirs'].map((name) => {
  const { authority, keyPath } = makeCertificate(folder.path, name)
  return { certificate: authority, privateKey: readFileSync(keyPath, 'utf8') }
}) as [Pair, Pair]

interface Pair {
  readonly certificate: string
  readonly privateKey: string
}

const plain = { endpoint: 'mqtt://broker.example', topic: 'plants/+/boiler/#' }
const secure = { endpoint: 'mqtts://broker.example:8883', topic: 'plants/#' }
const login = { username: 'reader', password: 'secret' }
const mark = '********'

/** The paths of what is wrong with a source, sorted, within `source`. */
function wrong(source: object): readonly string[] {
  const found: ErrorDetail[] = []
  parseSource(source, 'iot_sensor', found)
  return found.map(({ path }) => path.replace(/^source\./, '')).toSorted()
}

describe('a source at an external broker', () => {
  test.each<[string, object]>([
    ['only an endpoint and a topic', plain],
    ['the protocol', { ...plain, protocol: 'mqtt' }],
    ['a port', { ...plain, endpoint: 'mqtt://broker.example:21883' }],
    ['an address', { ...plain, endpoint: 'mqtt://[2606:2800::1]:1883' }],
    ['a slash at its end', { ...plain, endpoint: 'mqtts://broker.example/' }],
    ['a WebSocket', { ...plain, endpoint: 'ws://broker.example/mqtt?token=none' }],
    ['a secure WebSocket', { ...plain, endpoint: 'wss://broker.example/mqtt' }],
    ['QoS 0', { ...plain, qos: 0 }],
    ['QoS 2', { ...plain, qos: 2 }],
    ['a client id', { ...plain, clientId: 'vault/7' }],
    ['a group', { ...plain, sharedGroup: 'vault' }],
    ['MQTT 3.1', { ...plain, version: 3 }],
    ['whichever version there is', { ...plain, version: 'auto' }],
    ['a login', { ...plain, credentials: login }],
    ['a kept password', { ...plain, credentials: { ...login, password: mark } }],
    ['a certificate', { ...secure, credentials: ours }],
    ['a certificate and a login', { ...secure, credentials: { ...login, ...ours } }],
    ['a kept certificate', { ...secure, credentials: { certificate: mark, privateKey: mark } }],
    ['an authority', { ...secure, tls: { ca: ours.certificate, servername: 'broker' } }],
  ])('can have %s', (_, source) => {
    expect(wrong(source)).toEqual([])
  })

  test.each<[string, object, string]>([
    ['no topic', { endpoint: plain.endpoint }, 'topic'],
    ['a topic with a group', { ...plain, topic: '$share/vault/plants' }, 'topic'],
    ['an endpoint of HTTP', { ...plain, endpoint: 'https://broker.example' }, 'endpoint'],
    ['an endpoint without a host', { ...plain, endpoint: 'mqtt://' }, 'endpoint'],
    ['an endpoint with a path', { ...plain, endpoint: 'mqtt://broker.example/x' }, 'endpoint'],
    ['an endpoint with a query', { ...plain, endpoint: 'mqtt://broker.example?x' }, 'endpoint'],
    ['a fragment', { ...plain, endpoint: 'ws://broker.example/#x' }, 'endpoint'],
    ['a login in its endpoint', { ...plain, endpoint: 'mqtt://me:secret@broker' }, 'endpoint'],
    ['a name in its endpoint', { ...plain, endpoint: 'mqtt://me@broker' }, 'endpoint'],
    ['another protocol', { ...plain, protocol: 'http' }, 'protocol'],
    ['QoS 3', { ...plain, qos: 3 }, 'qos'],
    ['QoS 1 as text', { ...plain, qos: '1' }, 'qos'],
    ['an empty client id', { ...plain, clientId: '' }, 'clientId'],
    ['a control character', { ...plain, clientId: 'a\u0000b' }, 'clientId'],
    ['half a character', { ...plain, clientId: 'a\ud800' }, 'clientId'],
    ['a long client id', { ...plain, clientId: 'a'.repeat(201) }, 'clientId'],
    ['a group of two levels', { ...plain, sharedGroup: 'a/b' }, 'sharedGroup'],
    ['a group of all', { ...plain, sharedGroup: '#' }, 'sharedGroup'],
    ['MQTT 2', { ...plain, version: 2 }, 'version'],
    ['no credentials in them', { ...plain, credentials: {} }, 'credentials'],
    ['no password', { ...plain, credentials: { username: 'me' } }, 'credentials'],
    ['a token', { ...plain, credentials: { ...login, token: 'x' } }, 'credentials.token'],
    ['no key', { ...secure, credentials: { certificate: ours.certificate } }, 'credentials'],
    ['no TLS for a certificate', { ...plain, credentials: ours }, 'credentials.certificate'],
    ['no TLS for an authority', { ...plain, tls: { ca: ours.certificate } }, 'tls'],
    [
      'no certificate',
      { ...secure, credentials: { ...ours, certificate: 'x' } },
      'credentials.certificate',
    ],
    [
      'no key in PEM',
      { ...secure, credentials: { ...ours, privateKey: 'x' } },
      'credentials.privateKey',
    ],
    [
      'the key of another',
      { ...secure, credentials: { ...ours, privateKey: theirs.privateKey } },
      'credentials.privateKey',
    ],
    [
      'a kept key for a new certificate',
      { ...secure, credentials: { ...ours, privateKey: mark } },
      'credentials.privateKey',
    ],
    ['no authority in PEM', { ...secure, tls: { ca: 'x' } }, 'tls.ca'],
    [
      'a way around TLS',
      { ...secure, tls: { rejectUnauthorized: false } },
      'tls.rejectUnauthorized',
    ],
  ])('cannot have %s', (_, source, path) => {
    expect(wrong(source)).toEqual([path])
  })

  test('is not told what a key that cannot be read looks like', () => {
    const found: ErrorDetail[] = []
    const credentials = { ...ours, privateKey: `hush${ours.privateKey.slice(30)}` }
    parseSource({ ...secure, credentials }, 'iot_sensor', found)
    expect(found).toHaveLength(1)
    expect(JSON.stringify(found)).not.toContain('hush')
  })
})
