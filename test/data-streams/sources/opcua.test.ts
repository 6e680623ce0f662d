import { execFileSync } from 'node:child_process'
import { afterAll, describe, expect, test } from 'vitest'
import type { ErrorDetail } from '../../../src/core/errors.ts'
import { parseSource, unsupportedSource } from '../../../src/streams/data-streams/source.ts'
import { makeApplicationCertificate } from '../../support/application-certificate.ts'
import { TemporaryFolder } from '../../support/temporary-folder.ts'

const folder = new TemporaryFolder()
const { certificate, privateKey } = makeApplicationCertificate(folder.path)
const nameless = makeApplicationCertificate(folder.path, 'DNS:vault')
afterAll(() => folder[Symbol.dispose]())

const plain = {
  protocol: 'opcua',
  endpoint: 'opc.tcp://plc.example:4840/plant',
  items: { temperature: 'ns=2;s=Boiler.Temperature', pressure: 'nsu=urn:plant:boiler;i=1001' },
}

const secured = {
  ...plain,
  securityMode: 'signAndEncrypt',
  securityPolicy: 'Aes256_Sha256_RsaPss',
  credentials: { username: 'vault', password: 'hunter2', certificate, privateKey },
  serverCertificate: certificate,
}

function wrongIn(source: object) {
  const found: ErrorDetail[] = []
  parseSource(source, 'manufacturing', found)
  return found.map(({ path }) => path)
}

describe('a source of OPC UA', () => {
  test.each(['manufacturing', 'building_systems', 'occupancy'] as const)('can be of %s', (type) => {
    const found: ErrorDetail[] = []
    const source = parseSource(secured, type, found)
    expect(found).toEqual([])
    expect(unsupportedSource(type, source)).toEqual([])
  })

  test('is none of events', () => {
    const found: ErrorDetail[] = []
    parseSource(plain, 'event_stream', found)
    expect(found.map(({ path }) => path)).toContain('source.protocol')
  })

  test.each([
    {
      items: [
        'i=2258',
        'ns=1;g=09087e75-8e5e-499b-954f-f2a9603db28a',
        'ns=3;b=M/RbKBsRVkePCePcx24oRA==',
      ],
    },
    { items: [{ nodeId: 'ns=1;s=a', samplingInterval: 0, queueSize: 10, deadband: 0.5 }] },
    {
      items: [
        { nodeId: 'ns=1;s=a', field: 'a' },
        { nodeId: 'ns=1;s=b', field: 'b' },
      ],
    },
    { items: Array.from({ length: 10_000 }, (_, index) => `ns=1;i=${index}`) },
    { sessionTimeout: 600_000 },
    { samplingInterval: 0, publishingInterval: 10, queueSize: 5_000, discardOldest: false },
    { credentials: { username: 'vault', password: 'hunter2' }, timestampField: 'at' },
  ])('may have %o', (more) => {
    expect(wrongIn({ ...plain, ...more })).toEqual([])
  })

  test('may know its server by a fingerprint', () => {
    const text = execFileSync('openssl', ['x509', '-noout', '-fingerprint', '-sha256'], {
      input: certificate,
      encoding: 'utf8',
    })
    const fingerprint = text.split('=')[1]?.trim()
    expect(wrongIn({ ...secured, serverCertificate: fingerprint })).toEqual([])
  })

  test.each([
    [{ endpoint: 'opc.tcp://user:secret@plc.example' }, 'source.endpoint'],
    [{ endpoint: 'https://plc.example' }, 'source.endpoint'],
    [{ items: undefined }, 'source.items'],
    [{ items: {} }, 'source.items'],
    [{ items: [] }, 'source.items'],
    [{ items: { 'no name': 'ns=1;s=a' } }, 'source.items.no name'],
    [{ items: { a: 'Boiler' } }, 'source.items.a'],
    [{ items: [{ field: 'a' }] }, 'source.items.0.nodeId'],
    [{ items: [{ nodeId: 'i=1', deadband: -1 }] }, 'source.items.0.deadband'],
    [{ items: [{ nodeId: 'i=1', field: 'a' }, 'i=2'] }, 'source.items'],
    [
      {
        items: [
          { nodeId: 'i=1', field: 'a' },
          { nodeId: 'i=2', field: 'a' },
        ],
      },
      'source.items',
    ],
    [{ items: Array.from({ length: 10_001 }, () => 'i=1') }, 'source.items'],
    [{ queueSize: 0 }, 'source.queueSize'],
    [{ publishingInterval: 1 }, 'source.publishingInterval'],
    [{ securityPolicy: 'Basic256Sha256' }, 'source.securityPolicy'],
    [{ serverCertificate: certificate }, 'source.serverCertificate'],
    [{ securityMode: 'sign' }, 'source.credentials.certificate'],
    [{ credentials: { certificate, privateKey } }, 'source.credentials.certificate'],
    [{ format: 'json' }, 'source.format'],
    [{ timestampFormat: 'epoch_ms' }, 'source.timestampFormat'],
    [{ isTrial: true }, 'source.isTrial'],
  ])('does not have %o', (more, path) => {
    expect(wrongIn({ ...plain, ...more })).toEqual([path])
  })

  test.each([
    [{ securityPolicy: 'Basic128Rsa15' }, 'source.securityPolicy'],
    [{ serverCertificate: 'AB:CD' }, 'source.serverCertificate'],
    [{ credentials: { ...nameless } }, 'source.credentials.certificate'],
  ])('does not have, with security, %o', (more, path) => {
    expect(wrongIn({ ...secured, ...more })).toEqual([path])
  })
})
