import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import type { ErrorDetail } from '../../../src/core/errors.ts'
import { parseSource } from '../../../src/streams/data-streams/source.ts'
import { secretsOf } from '../../../src/streams/data-streams/source-secrets.ts'
import { makeCertificate } from '../../support/certificate.ts'
import { TemporaryFolder } from '../../support/temporary-folder.ts'

const folder = new TemporaryFolder()
afterAll(() => folder[Symbol.dispose]())

const { authority: certificate, keyPath } = makeCertificate(folder.path)
const pair = { certificate, privateKey: readFileSync(keyPath, 'utf8') }

const plain = { protocol: 'nats', endpoint: 'nats://nats.example', topic: 'plants.*.boiler.>' }
const secure = { ...plain, endpoint: 'tls://nats.example:4443' }
const login = { username: 'plant', password: 'secret' }
const nkey = `SU${'A'.repeat(56)}`
const credentialsFile =
  '-----BEGIN NATS USER JWT-----\nx\n------END\n-----BEGIN USER NKEY SEED-----\nSU\n'
const mark = '********'

/** The paths of what is wrong with a source, sorted, within `source`. */
function wrong(source: object): readonly string[] {
  const found: ErrorDetail[] = []
  parseSource(source, 'event_stream', found)
  return found.map(({ path }) => path.replace(/^source\./, '')).toSorted()
}

describe('a source of NATS', () => {
  test.each<[string, object]>([
    ['an endpoint and a topic', plain],
    ['an address', { ...plain, endpoint: 'nats://[2606:2800::1]:4222' }],
    ['all subjects', { ...plain, topic: '>' }],
    ['subjects in any letters', { ...plain, topic: 'wérk.$7.*' }],
    ['a stream', { ...plain, stream: 'PLANT_7' }],
    ['a group', { ...plain, group: 'vault' }],
    ['a domain', { ...plain, domain: 'hub' }],
    ['a beginning', { ...plain, startFrom: 'latest' }],
    ['a login', { ...plain, credentials: login }],
    ['a token', { ...plain, credentials: { token: 'x' } }],
    ['an NKey', { ...plain, credentials: { nkey } }],
    ['a file with a JWT', { ...plain, credentials: { credentialsFile } }],
    [
      'kept secrets',
      { ...secure, credentials: { credentialsFile: mark, privateKey: mark, certificate: mark } },
    ],
    ['a certificate', { ...secure, credentials: pair }],
    ['a certificate and a token', { ...secure, credentials: { ...pair, token: 'x' } }],
    ['TLS', { ...secure, tls: { ca: certificate, servername: 'nats', handshakeFirst: true } }],
    ['types of events', { ...plain, eventTypes: { opened: { door: { type: 'string' } } } }],
    ['a format', { ...plain, format: 'cbor' }],
  ])('can have %s', (_, source) => {
    expect(wrong(source)).toEqual([])
  })

  test.each<[string, object, string]>([
    ['no topic', { ...plain, topic: undefined }, 'topic'],
    ['no endpoint', { ...plain, endpoint: undefined }, 'endpoint'],
    ['another protocol', { ...plain, endpoint: 'https://nats.example' }, 'endpoint'],
    ['credentials in its endpoint', { ...plain, endpoint: 'nats://a:b@nats.example' }, 'endpoint'],
    ['an empty token in its topic', { ...plain, topic: 'a..b' }, 'topic'],
    ['a space in its topic', { ...plain, topic: 'a b' }, 'topic'],
    ['a line in its topic', { ...plain, topic: 'a\r\nPUB' }, 'topic'],
    ['a part of a token as a wildcard', { ...plain, topic: 'a.b*' }, 'topic'],
    ['> before the end of its topic', { ...plain, topic: 'a.>.b' }, 'topic'],
    ['dots in its group', { ...plain, group: 'a.b' }, 'group'],
    ['a wildcard as its stream', { ...plain, stream: '*' }, 'stream'],
    ['another beginning', { ...plain, startFrom: 'now' }, 'startFrom'],
    ['a password alone', { ...plain, credentials: { password: 'x' } }, 'credentials'],
    ['two ways to be let in', { ...plain, credentials: { ...login, token: 'x' } }, 'credentials'],
    ['no way to be let in', { ...plain, credentials: {} }, 'credentials'],
    [
      'an NKey of an account',
      { ...plain, credentials: { nkey: `SA${'A'.repeat(56)}` } },
      'credentials.nkey',
    ],
    [
      'the name of a file',
      { ...plain, credentials: { credentialsFile: '/etc/a.creds' } },
      'credentials.credentialsFile',
    ],
    ['a certificate without TLS', { ...plain, credentials: pair }, 'credentials.certificate'],
    ['what concerns TLS without it', { ...plain, tls: {} }, 'tls'],
    [
      'a certificate of another key',
      { ...secure, credentials: { ...pair, privateKey: mark } },
      'credentials.privateKey',
    ],
    ['what is not known', { ...plain, queue: 'x' }, 'queue'],
  ])('cannot have %s', (_, source, path) => {
    expect(wrong(source)).toEqual([path])
  })

  test('keeps secret whatever lets somebody in', () => {
    const credentials = { ...login, token: 'b', nkey, credentialsFile, ...pair }
    expect(Object.keys(secretsOf({ ...plain, credentials }))).toEqual([
      'credentials.password',
      'credentials.token',
      'credentials.nkey',
      'credentials.credentialsFile',
      'credentials.certificate',
      'credentials.privateKey',
    ])
  })
})
