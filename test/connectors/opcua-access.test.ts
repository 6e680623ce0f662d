import { createHash, X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { opcua } from '../../connectors/opcua/opcua.ts'
import { opcUaCredentials } from '../../scripts/servers/opcua.ts'
import { makeApplicationCertificate } from '../support/application-certificate.ts'
import { FetchingSource } from '../support/fetching-source.ts'
import { OpcUaTestServer } from '../support/opcua-server.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const patience = { timeout: 60_000, interval: 20 }
const folder = new TemporaryFolder()
const application = makeApplicationCertificate(folder.path)

let server: OpcUaTestServer
let shown: X509Certificate

beforeAll(async () => {
  server = await OpcUaTestServer.start({ variables: { number: 'Int32' } })
  await server.set([{ name: 'number', value: 7 }])
  shown = new X509Certificate(readFileSync(join(server.pki, 'own/certs/certificate.pem')))
  writeFileSync(join(server.pki, 'trusted/certs/streamvault.pem'), application.certificate)
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

function sourceWith(changes: object) {
  const source = {
    protocol: 'opcua',
    endpoint: server.endpoint,
    credentials: opcUaCredentials,
    items: { number: 'ns=1;s=number' },
    publishingInterval: 50,
    ...changes,
  }
  return new FetchingSource({ connector: opcua, source, ports: [server.port] })
}

/** What a source that was refused shows. */
async function refusal(changes: object): Promise<string> {
  await using source = sourceWith(changes)
  source.start()
  await expect.poll(() => source.runner.status.lastError, patience).toBeDefined()
  expect(source.runner.status).toMatchObject({ isLasting: true })
  return source.runner.status.lastError as string
}

const secured = {
  securityMode: 'signAndEncrypt',
  credentials: { ...opcUaCredentials, ...application },
}

describe('a subscriber of OPC UA', () => {
  test.each([
    ['sign', 'Basic256Sha256'],
    ['sign', 'Aes128_Sha256_RsaOaep'],
    ['signAndEncrypt', 'Basic256Sha256'],
    ['signAndEncrypt', 'Aes256_Sha256_RsaPss'],
  ])('speaks in the mode %s with %s to a server that it trusts', async (mode, policy) => {
    await using source = sourceWith({
      ...secured,
      securityMode: mode,
      securityPolicy: policy,
      serverCertificate: shown.toString(),
    })
    source.start()
    await expect.poll(() => source.entries().numbers, patience).toEqual([7])
  })

  test('trusts a server by its fingerprint, which it tells where the source does not say which one to trust', async () => {
    const told = await refusal(secured)
    expect(told).toContain(shown.fingerprint256)
    const [serverCertificate] = /(?:[\dA-F]{2}:){31}[\dA-F]{2}/.exec(told) ?? []
    await using source = sourceWith({ ...secured, serverCertificate })
    source.start()
    await expect.poll(() => source.entries().numbers, patience).toEqual([7])
  })

  test('does not speak to another one', async () => {
    const serverCertificate = createHash('sha256').update('another').digest('hex')
    expect(await refusal({ ...secured, serverCertificate })).toContain('it is another one')
    const { certificate } = application
    expect(await refusal({ ...secured, serverCertificate: certificate })).toContain('another one')
  })

  test('says what a server offers that does not have the mode', async () => {
    const text = await refusal({
      ...secured,
      securityPolicy: 'Basic256',
      serverCertificate: shown.toString(),
    })
    expect(text).toContain('SignAndEncrypt Basic256Sha256')
  })

  test('is refused with a wrong password, which nobody gets to see', async () => {
    const credentials = { username: 'streamvault', password: 'wrong-hunter2' }
    const text = await refusal({ credentials })
    expect(text).toContain('the server')
    expect(text).not.toContain('hunter2')
  })

  test('is told where a server wants to know who comes', async () => {
    expect(await refusal({ credentials: undefined })).toContain('give credentials')
  })

  test('names the nodes that there are not', async () => {
    const items = { number: 'ns=1;s=number', missing: 'ns=1;s=missing' }
    expect(await refusal({ items })).toContain('1 of 2 nodes: ns=1;s=missing (BadNodeIdUnknown)')
    expect(await refusal({ items: { a: 'nsu=urn:none;s=a' } })).toContain('no namespace urn:none')
  })
})
