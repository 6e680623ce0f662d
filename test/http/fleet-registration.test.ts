import { beforeAll, describe, expect, test } from 'vitest'
import type { Answer } from '../support/api-client.ts'
import { asDevice, type MadeDevice } from '../support/devices.ts'
import { storedIn, TestFleet } from '../support/fleets.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

let ada: Person
let vaultId = ''

beforeAll(async () => {
  ada = await newPerson(service.api)
  vaultId = await vaultOf(ada)
})

type Key = Pick<MadeDevice, 'apiKey' | 'apiSecret' | 'id'>

interface Registered {
  readonly streamId: string
  readonly device: MadeDevice
  readonly message: string
}

function keyFor(body: object, vault = vaultId): Promise<Answer<Key>> {
  const wanted = { name: 'line 2', devicesMax: 10, foreignTopics: 'ignore', ...body }
  return ada.withKey<Key>('POST', `/vaults/${vault}/provisioning-keys`, wanted)
}

async function fleetWithKey(changes: object = {}): Promise<{ fleet: TestFleet; key: Key }> {
  const fleet = await TestFleet.make(ada, vaultId, changes)
  return { fleet, key: (await keyFor({ fleetId: fleet.id })).body }
}

function register(key: Key, serial: string, name?: string): Promise<Answer<Registered>> {
  return asDevice<Registered>(service.api, key, ['POST', '/devices/register', { serial, name }])
}

describe('a provisioning key of a fleet', () => {
  test('makes the stream of a device as its first message would', async () => {
    const { fleet, key } = await fleetWithKey({ tags: { site: 'berlin' } })

    const { status, body } = await register(key, 'SN-1')

    expect(status).toBe(201)
    expect(body.device.streamIds).toEqual([body.streamId])
    expect(await fleet.device('SN-1')).toMatchObject({ streamId: body.streamId, version: 1 })
    expect((await fleet.read()).streams).toBe(1)
    const { body: stream } = await ada.withToken<object>('GET', `/streams/${body.streamId}`)
    expect(stream).toMatchObject({
      name: 'SN-1',
      tags: { site: 'berlin', device: 'SN-1' },
      fleetId: fleet.id,
    })
  })

  test('gives a device the stream that its first message has made', async () => {
    const { fleet, key } = await fleetWithKey()
    const { mqtt } = await connect(ada.key)
    await fleet.publish(mqtt, 'SN-2', { temperature: 1 })

    const { body } = await register(key, 'SN-2', 'boiler 2')

    expect(body.streamId).toBe(await fleet.streamOf('SN-2'))
    expect((await fleet.read()).streams).toBe(1)
  })

  test('lets a device publish on the topic of the fleet under its own name only', async () => {
    const { fleet, key } = await fleetWithKey()
    const { body: own } = await register(key, 'SN-3')
    const { body: other } = await register(key, 'SN-4')
    const { mqtt } = await connect(own.device)

    await fleet.publish(mqtt, 'SN-3', { temperature: 1 })
    await fleet.publish(mqtt, 'SN-4', { temperature: 1 })
    await fleet.publish(mqtt, 'SN-5', { temperature: 1 })

    await storedIn(ada, own.streamId, 1)
    await storedIn(ada, other.streamId, 0)
    expect((await fleet.devices()).map(({ name }) => name)).toEqual(['SN-3', 'SN-4'])
  })

  test('registers no device that the fleet denies, and none beyond streamsMax', async () => {
    const { fleet, key } = await fleetWithKey({ streamsMax: 1 })
    await fleet.act('bad', 'deny')

    expect((await register(key, 'bad')).status).toBe(409)
    expect((await register(key, 'one')).status).toBe(201)
    const full = await register(key, 'two')

    expect(full.status).toBe(409)
    expect(full.body.message).toContain('has 1 streams')
  })

  test('registers one stream for each serial, however many ask at once', async () => {
    const { fleet, key } = await fleetWithKey()
    const { mqtt } = await connect(ada.key)

    const answers = await Promise.all([
      ...['x', 'x', 'y'].map(async (serial) => (await register(key, serial)).status),
      fleet.publish(mqtt, 'x', { temperature: 1 }),
      fleet.publish(mqtt, 'y', { temperature: 1 }),
    ])

    expect(answers.filter((status) => status === 500)).toEqual([])
    expect((await fleet.devices()).map(({ name }) => name)).toEqual(['x', 'y'])
    expect((await fleet.read()).streams).toBe(2)
    await storedIn(ada, await fleet.streamOf('x'), 1)
  })

  test('ends with the fleet', async () => {
    const { fleet, key } = await fleetWithKey()
    await ada.withToken('DELETE', fleet.path)

    const { status, body } = await register(key, 'SN-9')

    expect(status).toBe(409)
    expect(body.message).toContain('deleted')
  })

  test('names a fleet of its vault, or a definition, and shows which', async () => {
    const fleet = await TestFleet.make(ada, vaultId)
    const definition = { type: 'iot_sensor', schema: { temperature: { type: 'number' } } }
    const other = await vaultOf(ada)

    expect((await keyFor({})).status).toBe(400)
    expect((await keyFor({ definition, fleetId: fleet.id })).status).toBe(400)
    expect((await keyFor({ fleetId: fleet.id }, other)).status).toBe(400)
    expect((await keyFor({ fleetId: vaultId })).status).toBe(404)
    const { body } = await keyFor({ fleetId: fleet.id })
    expect(body).toMatchObject({ fleetId: fleet.id, definition: null })
    expect((await keyFor({ definition })).body).toMatchObject({ fleetId: null, definition })
  })
})
