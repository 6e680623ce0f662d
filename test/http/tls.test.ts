import { once } from 'node:events'
import { copyFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { connect, type TLSSocket } from 'node:tls'
import { connectAsync } from 'mqtt'
import { describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { makeCertificate, type TestCertificate } from '../support/certificate.ts'
import { adminKey, adminSecret, type ServiceProcess } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()

interface SecureService {
  readonly service: ServiceProcess
  readonly certificate: TestCertificate
  readonly reload: () => void
  readonly mqttsPort: number
  readonly folder: string
}

async function secureService(): Promise<SecureService> {
  const folder = services.newFolder()
  const certificate = makeCertificate(folder)
  const mqttsPort = await freePort()
  const launched = await services.launch(services.newFolder(), {
    STREAMVAULT_TLS_CERT: certificate.certPath,
    STREAMVAULT_TLS_KEY: certificate.keyPath,
    STREAMVAULT_MQTTS_PORT: String(mqttsPort),
  })
  const reload = () => launched.signal('SIGHUP')
  return { service: await launched.listening(), certificate, reload, mqttsPort, folder }
}

/** The answer to GET /health/live, from whoever proves to be trusted by this authority. */
async function health(base: string, authority: string): Promise<IncomingMessage> {
  const outgoing = request(`${base}/health/live`, { ca: authority, agent: false })
  outgoing.end()
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage]
  incoming.resume()
  return incoming
}

/** The certificate that a port shows, as text to compare. */
async function shownCertificate(port: number): Promise<string> {
  const socket: TLSSocket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
  await once(socket, 'secureConnect')
  const { fingerprint256 } = socket.getPeerCertificate()
  socket.destroy()
  return fingerprint256
}

describe('with a certificate', () => {
  test('HTTP is HTTPS, and browsers are told to remember that', async () => {
    const { service, certificate } = await secureService()

    const answer = await health(service.http, certificate.authority)

    expect(service.http).toMatch(/^https:/)
    expect(answer.statusCode).toBe(200)
    expect(answer.headers['strict-transport-security']).toBe('max-age=31536000')
  })

  test('nobody else passes for the service', async () => {
    const { service, folder } = await secureService()
    const stranger = makeCertificate(folder, 'stranger')

    await expect(health(service.http, stranger.authority)).rejects.toThrow(/certificate/)
  })

  test('readings come over MQTTS, and over MQTT as before', async () => {
    const { service, certificate, mqttsPort } = await secureService()
    const options = { username: adminKey, password: adminSecret, ca: certificate.authority }

    for (const url of [`mqtts://127.0.0.1:${mqttsPort}`, `mqtt://127.0.0.1:${service.mqttPort}`]) {
      const client = await connectAsync(url, options)
      await client.publishAsync('streams/none/data', '{}', { qos: 1 })
      await client.endAsync()
    }
    expect(service.output()).toContain(`mqtts://127.0.0.1:${mqttsPort}`)
  })

  test('plain HTTP on that port gets no answer from the service', async () => {
    const { service } = await secureService()

    await expect(fetch(service.http.replace('https:', 'http:'))).rejects.toThrow('fetch failed')
  })

  test('SIGHUP puts a renewed one to use at both ports', async () => {
    const { service, certificate, reload, mqttsPort, folder } = await secureService()
    const ports = [Number(new URL(service.http).port), mqttsPort]
    const before = await Promise.all(ports.map(shownCertificate))

    const renewed = makeCertificate(folder)
    reload()
    await expect.poll(service.output).toContain('the certificate was read again')

    const after = await Promise.all(ports.map(shownCertificate))
    expect(before[0]).toBe(before[1])
    expect(after[0]).toBe(after[1])
    expect(after[0]).not.toBe(before[0])
    expect((await health(service.http, renewed.authority)).statusCode).toBe(200)
    await expect(health(service.http, certificate.authority)).rejects.toThrow(/certificate/)
  })

  test('SIGHUP with one that is no good changes nothing', async () => {
    const { service, certificate, reload, folder } = await secureService()
    const { keyPath } = makeCertificate(folder, 'other')

    copyFileSync(keyPath, certificate.keyPath)
    reload()
    await expect.poll(service.output).toContain('the old one stays in use')

    expect((await health(service.http, certificate.authority)).statusCode).toBe(200)
  })
})
