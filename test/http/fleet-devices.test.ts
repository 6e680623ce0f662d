import { beforeAll, describe, expect, test } from 'vitest'
import { storedIn, TestFleet } from '../support/fleets.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

let ada: Person
let vaultId = ''

beforeAll(async () => {
  ada = await newPerson(service.api, { foreignTopics: 'ignore' })
  vaultId = await vaultOf(ada)
})

async function fleetWith(devices: readonly string[], changes: object = {}) {
  const fleet = await TestFleet.make(ada, vaultId, changes)
  const { mqtt } = await connect(ada.key)
  for (const device of devices) await fleet.publish(mqtt, device, { temperature: 1 })
  return { fleet, mqtt }
}

describe('GET /fleets/{fleetId}/devices', () => {
  test('lists devices by name, page by page', async () => {
    const { fleet } = await fleetWith(['c', 'a', 'b'])

    const devices = await fleet.devices('limit=2')

    expect(devices.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    expect(devices[0]).toMatchObject({ denied: false, version: 1 })
    expect(devices[0]?.lastReceivedAt).toMatch(/Z$/)
    expect(await fleet.device('a')).toEqual(devices[0])
  })

  test('finds those that have been silent', async () => {
    const { fleet, mqtt } = await fleetWith(['quiet', 'loud'])
    await new Promise((resolve) => setTimeout(resolve, 2_100))
    await fleet.publish(mqtt, 'loud', { temperature: 2 })

    const names = async (query: string) => (await fleet.devices(query)).map(({ name }) => name)

    expect(await names('silentFor=2s')).toEqual(['quiet'])
    expect(await names('silentFor=1h')).toEqual([])
    expect((await ada.withToken('GET', `${fleet.path}/devices?silentFor=soon`)).status).toBe(400)
  })

  test('finds those that are denied, or not', async () => {
    const { fleet } = await fleetWith(['a', 'b'])
    await fleet.act('b', 'deny')
    await fleet.act('new', 'deny')

    const names = async (query: string) => (await fleet.devices(query)).map(({ name }) => name)

    expect(await names('status=denied&limit=1')).toEqual(['b', 'new'])
    expect(await names('status=active')).toEqual(['a'])
    expect(await names('status=outdated')).toEqual([])
  })
})

describe('deny and allow', () => {
  test('refuse the messages of a device, and take them again', async () => {
    const { fleet, mqtt } = await fleetWith(['a'])
    const id = await fleet.streamOf('a')

    expect((await fleet.act('a', 'deny')).body).toMatchObject({ denied: true, streamId: id })
    await fleet.publish(mqtt, 'a', { temperature: 2 })
    expect((await fleet.act('a', 'allow')).body).toMatchObject({ denied: false, streamId: id })
    await fleet.publish(mqtt, 'a', { temperature: 3 })

    await storedIn(ada, id, 2)
  })

  test('keep a name from getting a stream', async () => {
    const { fleet, mqtt } = await fleetWith([])

    const denied = (await fleet.act('new', 'deny')).body
    expect(denied).toMatchObject({ streamId: null, denied: true })
    expect(await fleet.device('new')).toEqual(denied)
    await fleet.publish(mqtt, 'new', { temperature: 2 })
    expect((await fleet.read()).streams).toBe(0)
    await fleet.act('new', 'allow')
    expect((await ada.withToken('GET', `${fleet.path}/devices/new`)).status).toBe(404)
    await fleet.publish(mqtt, 'new', { temperature: 3 })

    await storedIn(ada, await fleet.streamOf('new'), 1)
  })

  test('are shown among what leads nowhere, with the reason', async () => {
    const { fleet, mqtt } = await fleetWith(['a'], { streamsMax: 1 })
    await fleet.act('a', 'deny')

    await fleet.publish(mqtt, 'a', { temperature: 2 })
    await fleet.publish(mqtt, 'b', { temperature: 2 })

    const { body } = await ada.withToken<readonly { topic: string; reason: string }[]>(
      'GET',
      '/mqtt/unrouted',
    )
    const reasons = new Map(body.map(({ topic, reason }) => [topic, reason]))
    expect(reasons.get(fleet.topicOf('a'))).toBe('device_denied')
    expect(reasons.get(fleet.topicOf('b'))).toBe('fleet_full')
  })

  test('outlast the deletion of the stream', async () => {
    const { fleet } = await fleetWith(['a'])
    const id = await fleet.streamOf('a')
    await fleet.act('a', 'deny')

    await ada.withToken('DELETE', `/streams/${id}`)

    expect(await fleet.device('a')).toMatchObject({ streamId: null, denied: true })
    expect((await fleet.read()).streams).toBe(0)
  })

  test('are 404 and 400 for names that are no devices', async () => {
    const { fleet } = await fleetWith([])

    expect((await fleet.act('unknown', 'allow')).status).toBe(404)
    expect((await fleet.act('a\nb', 'deny')).status).toBe(400)
  })
})

describe('rename', () => {
  test('lets the stream take the messages with the new name', async () => {
    const { fleet, mqtt } = await fleetWith(['old'])
    const id = await fleet.streamOf('old')

    const { status, body } = await fleet.act('old', 'rename', { name: 'new' })

    expect({ status, body }).toMatchObject({ status: 200, body: { name: 'new', streamId: id } })
    await fleet.publish(mqtt, 'new', { temperature: 2 })
    await fleet.publish(mqtt, 'old', { temperature: 3 })
    await storedIn(ada, id, 2)
    const other = await fleet.streamOf('old')
    expect(other).not.toBe(id)
    await storedIn(ada, other, 1)
    const shown = await ada.withToken<object>('GET', `/streams/${id}`)
    expect(shown.body).toMatchObject({
      name: 'new',
      device: 'new',
      tags: { device: 'new' },
      version: 2,
    })
  })

  test('leaves a name alone that its owner has given to the stream', async () => {
    const { fleet } = await fleetWith(['old'])
    const id = await fleet.streamOf('old')
    await ada.withToken('PUT', `/streams/${id}`, { name: 'hall 3' })

    await fleet.act('old', 'rename', { name: 'new' })

    const shown = await ada.withToken<object>('GET', `/streams/${id}`)
    expect(shown.body).toMatchObject({ name: 'hall 3', device: 'new', tags: { device: 'new' } })
  })

  test('is 409 for a name that has a stream, or is denied, and for a device without one', async () => {
    const { fleet } = await fleetWith(['a', 'b'])
    await fleet.act('no', 'deny')

    expect((await fleet.act('a', 'rename', { name: 'b' })).status).toBe(409)
    expect((await fleet.act('a', 'rename', { name: 'no' })).status).toBe(409)
    expect((await fleet.act('no', 'rename', { name: 'c' })).status).toBe(409)
    expect((await fleet.act('a', 'rename', { name: 'a' })).status).toBe(200)
    expect((await fleet.act('unknown', 'rename', { name: 'c' })).status).toBe(404)
    expect((await fleet.act('a', 'rename', { name: ' ' })).status).toBe(400)
  })
})
