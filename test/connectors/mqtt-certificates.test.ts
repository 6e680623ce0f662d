import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { type IClientOptions, type MqttClient, connect as open } from 'mqtt'
import { afterEach, describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { ApiClient } from '../support/api-client.ts'
import { makeAuthority, makeCertificate } from '../support/certificate.ts'
import { type MadeDevice, newDevice, newStreams } from '../support/devices.ts'
import { newPerson, type Person, received } from '../support/people.ts'
import { startedServices } from '../support/started-services.ts'

// Requests over HTTPS are not what is tested here.
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'

const services = startedServices()
const clients: MqttClient[] = []

afterEach(() => {
  for (const client of clients.splice(0)) client.end(true)
})

/** A service that asks clients of MQTTS for certificates of one authority. */
async function factory(environment: Readonly<Record<string, string>> = {}) {
  const folder = services.newFolder()
  const server = makeCertificate(folder)
  const authority = makeAuthority(folder, 'factory')
  const stranger = makeAuthority(folder, 'stranger')
  const caPath = join(folder, 'clients.pem')
  copyFileSync(authority.certPath, caPath)
  const port = await freePort()
  const launched = await services.launch(services.newFolder(), {
    STREAMVAULT_TLS_CERT: server.certPath,
    STREAMVAULT_TLS_KEY: server.keyPath,
    STREAMVAULT_TLS_CLIENT_CA: caPath,
    STREAMVAULT_MQTTS_PORT: String(port),
    ...environment,
  })
  const service = await launched.listening()
  const api = new ApiClient(service.http)
  const connect = async (options: IClientOptions) => {
    const url = `mqtts://127.0.0.1:${port}`
    const client = open(url, { ca: server.authority, reconnectPeriod: 0, ...options })
    clients.push(client)
    await new Promise<void>((resolve, reject) => {
      client.once('connect', () => resolve())
      client.once('error', reject)
      client.once('close', () => reject(new Error('it was closed without an answer')))
    })
    return client
  }
  return {
    api,
    service,
    authority,
    stranger,
    caPath,
    connect,
    reload: () => launched.signal('SIGHUP'),
  }
}

async function named(person: Person, commonName: string): Promise<MadeDevice> {
  const { streamIds } = await newStreams(person)
  return await newDevice(person, { streamIds, certificateName: commonName })
}

async function send(client: MqttClient, { streamIds }: MadeDevice): Promise<void> {
  await client.publishAsync(`streams/${streamIds[0]}/data`, '{"temperature": 1}', { qos: 1 })
}

describe('a client with a certificate and no user name', () => {
  test('is the device of its common name, until that is revoked', async () => {
    const { api, authority, connect } = await factory()
    const ada = await newPerson(api)
    const name = `${ada.userId}:boiler-7`
    const device = await named(ada, name)
    const client = await connect(authority.sign(name))

    await send(client, device)

    expect(await received(ada, device.streamIds[0] ?? '')).toBe(1)
    const closing = new Promise<void>((resolve) => {
      client.once('close', () => resolve())
    })
    await ada.withKey('POST', `/devices/${device.id}/revoke`)
    await closing
    await expect(connect(authority.sign(name))).rejects.toThrow(/Bad username or password/)
  })

  test('is nobody when no device has its common name', async () => {
    const { authority, connect } = await factory()

    await expect(connect(authority.sign('unknown'))).rejects.toThrow(/Bad username or password/)
  })

  test('is let go before CONNECT when its certificate is of others, or has expired', async () => {
    const { api, authority, stranger, connect } = await factory()
    const ada = await newPerson(api)
    const name = `${ada.userId}:boiler-7`
    await named(ada, name)

    for (const certificate of [stranger.sign(name), authority.sign(name, -1)]) {
      await expect(connect(certificate)).rejects.toThrow()
    }
    await connect(authority.sign(name))
  })

  test('and with a user name is who that says', async () => {
    const { api, authority, connect } = await factory()
    const ada = await newPerson(api)
    const name = `${ada.userId}:boiler-7`
    await named(ada, name)
    const { apiKey, apiSecret } = ada.key
    const client = await connect({ ...authority.sign(name), username: apiKey, password: apiSecret })
    expect(client.connected).toBe(true)

    const wrong = { ...authority.sign(name), username: apiKey, password: 'wrong' }
    await expect(connect(wrong)).rejects.toThrow(/Bad username or password/)
  })

  test('of an authority that is no longer trusted is refused after SIGHUP', async () => {
    const { api, service, authority, stranger, caPath, connect, reload } = await factory()
    const ada = await newPerson(api)
    const name = `${ada.userId}:boiler-7`
    await named(ada, name)
    await connect(authority.sign(name))

    copyFileSync(stranger.certPath, caPath)
    reload()
    await expect.poll(service.output).toContain('the certificate was read again')

    await expect(connect(authority.sign(name))).rejects.toThrow()
    await connect(stranger.sign(name))
  })
})

test('a client without a certificate comes in by its key, unless certificates are required', async () => {
  const optional = await factory()
  const required = await factory({ STREAMVAULT_TLS_CLIENT_CERT: 'required' })
  const credentials = async ({ api }: typeof optional) => {
    const { apiKey, apiSecret } = (await newPerson(api)).key
    return { username: apiKey, password: apiSecret }
  }

  await optional.connect(await credentials(optional))
  await expect(required.connect(await credentials(required))).rejects.toThrow()
  const certificate = required.authority.sign('anybody')
  await required.connect({ ...certificate, ...(await credentials(required)) })
})

describe('a common name', () => {
  test('can be claimed by nobody whose it is not', async () => {
    const { api } = await factory()
    const [ada, bob] = [await newPerson(api), await newPerson(api)]
    const device = await named(ada, `${ada.userId}:boiler-7`)
    const { streamIds } = await newStreams(bob)
    const claim = (certificateName: string) =>
      bob.withKey<{ error: string }>('POST', '/devices', {
        name: 'a spy',
        streamIds,
        certificateName,
      })

    expect((await claim(`${ada.userId}:boiler-8`)).body.error).toBe('insufficient_permissions')
    expect((await claim('boiler-9')).body.error).toBe('insufficient_permissions')
    const path = `/devices/${device.id}`
    expect((await api.withKey('PUT', path, { certificateName: 'boiler-9' })).status).toBe(200)
    const heir = await newDevice(ada, { streamIds: device.streamIds })
    const again = await api.withKey('PUT', `/devices/${heir.id}`, { certificateName: 'boiler-9' })
    expect(again.status).toBe(409)
  })
})
