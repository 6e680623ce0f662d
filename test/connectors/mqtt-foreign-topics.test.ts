import { describe, expect, test } from 'vitest'
import { newDevice } from '../support/devices.ts'
import { metricOf } from '../support/metrics.ts'
import { closed, mqttClients } from '../support/mqtt-clients.ts'
import {
  createKey,
  newPerson,
  type Person,
  received,
  streamOf,
  vaultOf,
} from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

const reading = '{"temperature": 21.5}'

interface UnroutedTopic {
  readonly topic: string
  readonly count: number
  readonly reason: string
}

const ignoring = { foreignTopics: 'ignore' }

async function unroutedOf(person: Person): Promise<Record<string, readonly [number, string]>> {
  const { body } = await person.withToken<UnroutedTopic[]>('GET', '/mqtt/unrouted?limit=1000')
  return Object.fromEntries(body.map(({ topic, count, reason }) => [topic, [count, reason]]))
}

async function streamOn(person: Person, topic: string): Promise<string> {
  const { body } = await person.withToken<{ streamId: string }>('POST', '/streams', {
    name: 'temperature',
    vaultId: await vaultOf(person),
    type: 'iot_sensor',
    source: { topic },
    schema: { temperature: { type: 'number' } },
  })
  return body.streamId
}

describe('a client that ignores topics that are not its own', () => {
  test('keeps its connection whatever it publishes, and its readings are stored', async () => {
    const ada = await newPerson(service.api, ignoring)
    const streamId = await streamOf(ada)
    const { mqtt } = await connect(ada.key)
    const before = await metricOf(service.process, 'mqtt_dropped_total')

    for (let sent = 0; sent < 500; sent++) {
      await mqtt.publishAsync(`tele/plug/${sent % 5}`, '{}', { qos: (sent % 3) as 0 | 1 | 2 })
    }
    await mqtt.publishAsync(`streams/${streamId}/data`, reading, { qos: 1 })

    await expect.poll(() => received(ada, streamId)).toBe(1)
    expect(mqtt.connected).toBe(true)
    expect(await metricOf(service.process, 'mqtt_dropped_total')).toBe(before + 500)
    const { body } = await ada.withKey('GET', `/keys/${ada.key.apiKey}`)
    expect(body).toMatchObject({ foreignTopics: 'ignore', droppedPublishes: 500 })
    expect(await unroutedOf(ada)).toEqual(
      Object.fromEntries([0, 1, 2, 3, 4].map((at) => [`tele/plug/${at}`, [100, 'no_stream']])),
    )
  })

  test('may leave a will anywhere, which is dropped when it is due', async () => {
    const ada = await newPerson(service.api, ignoring)
    const will = {
      topic: 'tele/plug/LWT',
      payload: Buffer.from('Offline'),
      qos: 1,
      retain: true,
    } as const
    const { mqtt } = await connect(ada.key, { will })

    mqtt.stream.destroy()

    await expect.poll(() => unroutedOf(ada)).toEqual({ 'tele/plug/LWT': [1, 'no_stream'] })
  })

  test('is granted what leads nowhere, and gets nothing by it', async () => {
    const [ada, bob] = [await newPerson(service.api, ignoring), await newPerson(service.api)]
    const bobs = await streamOf(bob)
    const own = `users/${ada.userId}/commands`
    const client = await connect(ada.key)
    const foreign = [
      '#',
      'cmnd/plug/#',
      '$SYS/#',
      `users/${bob.userId}/#`,
      `streams/${bobs}/data`,
      'streams/+/data',
      `$share/group/streams/${bobs}/data`,
    ]

    expect(await client.subscribe([...foreign, own], 2)).toEqual(Array(8).fill(2))
    const other = await connect(bob.key)
    await other.mqtt.publishAsync(`users/${bob.userId}/hello`, 'hello', { qos: 1, retain: true })
    await other.mqtt.publishAsync(`streams/${bobs}/data`, reading, { qos: 1 })
    await client.mqtt.publishAsync('cmnd/plug/POWER', 'ON', { qos: 1, retain: true })
    await client.mqtt.publishAsync(own, 'last', { qos: 1 })

    await expect.poll(() => client.messages.map(({ topic }) => topic)).toEqual([own])
    const again = await connect(ada.key)
    expect(await again.subscribe(['cmnd/plug/#', own])).toEqual([1, 1])
    await again.mqtt.publishAsync(own, 'last', { qos: 1 })
    await expect.poll(() => again.messages.map(({ topic }) => topic)).toEqual([own])
  })

  test('has no such filter in a session that is kept', async () => {
    const ada = await newPerson(service.api, ignoring)
    const session = { clientId: 'plug', clean: false }
    const client = await connect(ada.key, session)
    await client.subscribe(['cmnd/plug/#', `users/${ada.userId}/commands`])

    const { body } = await ada.withToken('GET', '/mqtt/sessions/plug')

    expect(body).toMatchObject({
      filters: [{ filter: `users/${ada.userId}/commands`, qos: 1 }],
    })
  })

  test('may have 1,000 filters, those that lead nowhere among them, until it gives some back', async () => {
    const ada = await newPerson(service.api, ignoring)
    const client = await connect(ada.key)
    const filters = Array.from({ length: 1_000 }, (_, index) => `cmnd/${index}`)
    for (let from = 0; from < 1_000; from += 100) {
      expect(await client.subscribe(filters.slice(from, from + 100))).toEqual(Array(100).fill(1))
    }

    expect(await client.subscribe('cmnd/more')).toEqual([0x80])
    expect(await client.subscribe(`users/${ada.userId}/commands`)).toEqual([0x80])
    expect(await client.subscribe('cmnd/0')).toEqual([1])
    await client.mqtt.unsubscribeAsync('cmnd/0')

    expect(await client.subscribe('cmnd/more')).toEqual([1])
  })

  test('gets what it subscribed to again once a stream has the topic', async () => {
    const ada = await newPerson(service.api, ignoring)
    const client = await connect(ada.key)
    expect(await client.subscribe('tele/plug/SENSOR')).toEqual([1])
    await streamOn(ada, 'tele/plug/SENSOR')

    expect(await client.subscribe('tele/plug/SENSOR')).toEqual([1])
    await client.mqtt.publishAsync('tele/plug/SENSOR', reading, { qos: 1 })

    await expect.poll(() => client.messages).toMatchObject([{ topic: 'tele/plug/SENSOR' }])
  })

  test('has nothing retained on such topics', async () => {
    const ada = await newPerson(service.api, ignoring)
    const { mqtt } = await connect(ada.key)
    await mqtt.publishAsync('tele/plug/SENSOR', reading, { qos: 1, retain: true })
    await streamOn(ada, 'tele/plug/SENSOR')

    const client = await connect(ada.key)
    await client.subscribe('tele/plug/SENSOR')
    await mqtt.publishAsync('tele/plug/SENSOR', reading, { qos: 1 })

    await expect.poll(() => client.messages).toMatchObject([{ retain: false }])
  })
})

test('nothing of what another user has is reached or stored by publishing to it', async () => {
  const [ada, bob] = [await newPerson(service.api, ignoring), await newPerson(service.api)]
  const bobs = await streamOf(bob)
  const [client, other] = [await connect(ada.key), await connect(bob.key)]
  await other.subscribe([`users/${bob.userId}/#`, `streams/${bobs}/data`])

  await client.mqtt.publishAsync(`users/${bob.userId}/hello`, 'hello', { qos: 1, retain: true })
  await client.mqtt.publishAsync(`streams/${bobs}/data`, reading, { qos: 1 })
  await client.mqtt.publishAsync(`streams/${crypto.randomUUID()}/data`, reading, { qos: 2 })
  await other.mqtt.publishAsync(`users/${bob.userId}/last`, 'last', { qos: 1 })

  await expect.poll(() => other.messages).toMatchObject([{ payload: 'last' }])
  expect(await received(bob, bobs)).toBe(0)
  expect(Object.values(await unroutedOf(ada))).toEqual(
    Array.from({ length: 3 }, () => [1, 'not_own']),
  )
  expect(await unroutedOf(bob)).toEqual({})
})

describe('the setting can be changed', () => {
  test('of a key: its sessions begin anew with it', async () => {
    const ada = await newPerson(service.api)
    const will = {
      topic: 'tele/plug/LWT',
      payload: Buffer.from('Offline'),
      qos: 0,
      retain: true,
    } as const
    await expect(connect(ada.key, { will })).rejects.toThrow(/Not authorized/)
    const { mqtt } = await connect(ada.key)
    const ended = closed(mqtt)

    const changed = await ada.withKey('PUT', `/keys/${ada.key.apiKey}`, ignoring)

    expect(changed).toMatchObject({ status: 200, body: ignoring })
    await ended
    await connect(ada.key, { will })
    const { body } = await service.api.withKey<{ content: object[] } & object[]>(
      'GET',
      `/audit?action=key.changed`,
    )
    expect(JSON.stringify(body)).toContain(ada.key.apiKey)
  })

  test('of a device, which can have it from the beginning', async () => {
    const ada = await newPerson(service.api)
    const streamIds = [await streamOf(ada)]
    const will = {
      topic: 'tele/plug/LWT',
      payload: Buffer.from('Offline'),
      qos: 0,
      retain: true,
    } as const
    const device = await newDevice(ada, { streamIds, ...ignoring })
    await connect(device, { will })

    const changed = await ada.withKey('PUT', `/devices/${device.id}`, { foreignTopics: 'refuse' })

    expect(changed).toMatchObject({ status: 200, body: { foreignTopics: 'refuse' } })
    await expect(connect(device, { will })).rejects.toThrow(/Not authorized/)
    const wrong = await ada.withKey('PUT', `/devices/${device.id}`, { foreignTopics: 'maybe' })
    expect(wrong).toMatchObject({
      status: 400,
      body: { details: [{ path: 'foreignTopics', message: 'must be one of: refuse, ignore' }] },
    })
  })
})

test('a key that may only send has its subscriptions to its own refused, and others granted', async () => {
  const ada = await newPerson(service.api)
  const wanted = { userId: ada.userId, permission: 'custom', scopes: ['data:write'], ...ignoring }
  const client = await connect(await createKey(service.api, wanted))

  const filters = [`streams/${await streamOf(ada)}/data`, 'cmnd/plug/#']

  expect(await client.subscribe(filters)).toEqual([0x80, 1])
})
