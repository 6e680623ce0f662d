import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { asDevice, type MadeDevice, newStreams } from '../support/devices.ts'
import { errorOf, type Json, neededQuery, operationsOf } from '../support/openapi-operations.ts'
import { newPerson, type Person, received } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const definition = { type: 'iot_sensor', schema: { temperature: { type: 'number' } } }

let ada: Person
let vaultId = ''

beforeAll(async () => {
  ada = await newPerson(service.api)
  vaultId = (await newStreams(ada)).vaultId
})

type Key = Pick<MadeDevice, 'apiKey' | 'apiSecret' | 'id'>

interface Registered {
  readonly streamId: string
  readonly topic: string
  readonly device: MadeDevice
  readonly error: string
}

async function newKey(body: object = {}): Promise<Key> {
  const wanted = { name: 'line 2', definition, devicesMax: 10, ...body }
  const path = `/vaults/${vaultId}/provisioning-keys`
  const answer = await ada.withKey<Key>('POST', path, wanted)
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

let serials = 0
const newSerial = () => `SN-${++serials}`

function register(key: Key, body: object): Promise<Answer<Registered>> {
  return asDevice<Registered>(service.api, key, ['POST', '/devices/register', body])
}

describe('POST /devices/register', () => {
  test('gives a new device a stream of the vault, and credentials that work', async () => {
    const rateLimit = { readingsPerSecond: 10, burst: 100 }
    const key = await newKey({ rateLimit })

    const { status, body } = await register(key, { serial: newSerial(), name: 'boiler 7' })

    expect(status).toBe(201)
    const { streamId, topic, device } = body
    expect(topic).toBe(`streams/${streamId}/data`)
    expect(device).toMatchObject({ name: 'boiler 7', streamIds: [streamId], rateLimit })
    const path = `/streams/${streamId}/data`
    const sent = await asDevice(service.api, device, ['POST', path, { temperature: 1 }])
    expect(sent.status).toBe(202)
    expect(await received(ada, streamId)).toBe(1)
    const { body: stream } = await ada.withToken<Json>('GET', `/streams/${streamId}`)
    expect(stream).toMatchObject({ vaultId, name: 'boiler 7' })
    expect((await ada.withKey('GET', `/devices/${device.id}`)).status).toBe(200)
  })

  test('gives each device what its key says about topics that are not its own', async () => {
    const key = await newKey({ foreignTopics: 'ignore' })
    const path = `/vaults/${vaultId}/provisioning-keys`

    const { body } = await register(key, { serial: newSerial() })

    expect(body.device).toMatchObject({ foreignTopics: 'ignore' })
    const { body: listed } = await ada.withKey<Key[]>('GET', path)
    expect(listed.find(({ id }) => id === key.id)).toMatchObject({ foreignTopics: 'ignore' })
    const wanted = { name: 'line 2', definition, devicesMax: 10, foreignTopics: 'maybe' }
    expect(await ada.withKey('POST', path, wanted)).toMatchObject({
      status: 400,
      body: { details: [{ path: 'foreignTopics' }] },
    })
  })

  test('is 409 for a serial that is known, and changes nothing about that device', async () => {
    const key = await newKey()
    const serial = newSerial()
    const first = await register(key, { serial })

    const thief = await register(await newKey(), { serial })

    expect([thief.status, thief.body.error]).toEqual([409, 'conflict'])
    const path = `/streams/${first.body.streamId}/data`
    const sent = await asDevice(service.api, first.body.device, ['POST', path, { temperature: 1 }])
    expect(sent.status).toBe(202)
  })

  test('gives new credentials once, when the owner has allowed that', async () => {
    const key = await newKey()
    const serial = newSerial()
    const { body: first } = await register(key, { serial })
    await ada.withKey('PUT', `/devices/${first.device.id}`, { mayRegisterAgain: true })

    const again = await register(key, { serial })

    expect(again.status).toBe(201)
    expect([again.body.device.id, again.body.streamId]).toEqual([first.device.id, first.streamId])
    const send = (device: MadeDevice) =>
      asDevice(service.api, device, ['POST', `/streams/${first.streamId}/data`, { temperature: 1 }])
    expect((await send(first.device)).status).toBe(401)
    expect((await send(again.body.device)).status).toBe(202)
    expect((await register(key, { serial })).status).toBe(409)
  })

  test('lets exactly as many in as may come, however many ask at once', async () => {
    const key = await newKey({ devicesMax: 5 })

    const answers = await Promise.all(
      Array.from({ length: 20 }, () => register(key, { serial: newSerial() })),
    )

    const statuses = answers.map(({ status }) => status)
    expect(statuses.filter((status) => status === 201)).toHaveLength(5)
    expect(statuses.filter((status) => status === 409)).toHaveLength(15)
  })

  test('makes one device of one serial, however often that is asked for at once', async () => {
    const key = await newKey()
    const serial = newSerial()

    const answers = await Promise.all(Array.from({ length: 10 }, () => register(key, { serial })))

    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    const path = `/vaults/${vaultId}/provisioning-keys`
    const { body: keys } = await ada.withKey<Json[]>('GET', path)
    expect(keys.find(({ id }) => id === key.id)).toMatchObject({ devicesRegistered: 1 })
  })

  test('under an Idempotency-Key gives the credentials again', async () => {
    const { apiKey, apiSecret } = await newKey()
    const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret, 'idempotency-key': 'first' }
    const body = { serial: newSerial() }
    const ask = () => service.api.request('POST', '/devices/register', { headers, body })

    expect((await ask()).body).toEqual((await ask()).body)
  })

  test('lets nobody choose an Idempotency-Key that others could guess from the serial', async () => {
    const { apiKey, apiSecret } = await newKey()
    const serial = newSerial()
    const ask = async (key: string) => {
      const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret, 'idempotency-key': key }
      const answer = await service.api.request<Registered>('POST', '/devices/register', {
        headers,
        body: { serial },
      })
      return [answer.status, answer.body.error]
    }

    expect(await ask(serial)).toEqual([400, 'invalid_request'])
    expect(await ask(`register-${serial}`)).toEqual([400, 'invalid_request'])
    expect((await ask(`${serial} 4f1c0a6b9d3e8275`))[0]).toBe(201)
  })

  test('has a rate', async () => {
    const key = await newKey({ registrationsPerMinute: 2 })
    const statuses: number[] = []
    for (let count = 0; count < 3; count++) {
      statuses.push((await register(key, { serial: newSerial() })).status)
    }

    expect(statuses).toEqual([201, 201, 429])
  })

  test('ends with the key', async () => {
    const revoked = await newKey()
    const path = `/vaults/${vaultId}/provisioning-keys/${revoked.id}`
    const expiresAt = new Date(Date.now() + 8_000).toISOString()
    const short = await newKey({ expiresAt })
    expect((await register(revoked, { serial: newSerial() })).status).toBe(201)

    expect((await ada.withKey('DELETE', path)).status).toBe(204)

    expect((await register(revoked, { serial: newSerial() })).status).toBe(401)
    await expect
      .poll(async () => (await register(short, { serial: newSerial() })).status, {
        timeout: 60_000,
      })
      .toBe(401)
  })

  test('is not for users, nor for devices', async () => {
    const { body } = await register(await newKey(), { serial: newSerial() })
    const wish = { serial: newSerial() }

    const byUser = await ada.withKey<Registered>('POST', '/devices/register', wish)
    const byDevice = await register(body.device, wish)

    expect([byUser.status, byDevice.status]).toEqual([403, 403])
  })
})

describe('a provisioning key', () => {
  test('is refused by every other operation, and gets no token', async () => {
    const { apiKey, apiSecret } = await newKey()
    const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret }
    const { body: document } = await service.api.request<Json>('GET', '/openapi.json')
    const letIn: string[] = []
    for (const operation of operationsOf(document).filter(({ security }) => security.length > 0)) {
      const path = operation.path.replaceAll(/\{\w+\}/g, vaultId) + neededQuery(operation)
      const body = operation.requestBody?.content['application/json']?.['example']
      const { method } = operation
      const answer = await service.api.request<Registered>(method, path, { headers, body })
      if (errorOf(answer) !== 'insufficient_permissions') letIn.push(operation.path)
    }

    expect(letIn).toEqual(['/devices/register'])
    const token = await service.api.request('POST', '/auth/token', { body: { apiKey, apiSecret } })
    expect(token.status).toBe(401)
  })

  test.each([
    ['a name in the definition', { definition: { ...definition, name: 'x' } }, 'definition.name'],
    ['a fetched type', { definition: { ...definition, type: 'api_pull' } }, 'definition.type'],
    ['no place for a device', { devicesMax: 0 }, 'devicesMax'],
    ['a schema that is none', { definition: { type: 'iot_sensor', schema: 7 } }, 'schema'],
  ])('is not made with %s', async (_, wish, path) => {
    const body = { name: 'line 2', definition, devicesMax: 10, ...wish }
    const answer = await ada.withKey<{ details: { path: string }[] }>(
      'POST',
      `/vaults/${vaultId}/provisioning-keys`,
      body,
    )

    expect(answer.status).toBe(400)
    expect(answer.body.details.map((one) => one.path)).toEqual([path])
  })
})
