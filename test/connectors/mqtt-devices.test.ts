import type { MqttClient } from 'mqtt'
import { beforeAll, describe, expect, test } from 'vitest'
import { type MadeDevice, newDevice, newStreams, received } from '../support/devices.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { connectPacket, publishPacket, RawMqttConnection } from '../support/mqtt-packets.ts'
import { newPerson, type Person } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const listening = mqttClients(() => service.process.mqttPort)
const connect = async (...options: Parameters<typeof listening>) =>
  (await listening(...options)).mqtt

let ada: Person
let own = ''
let other = ''

beforeAll(async () => {
  ada = await newPerson(service.api)
  const { streamIds } = await newStreams(ada, 2)
  own = streamIds[0] ?? ''
  other = streamIds[1] ?? ''
})

/** Resolves when the connection is closed; to be called before that can happen. */
async function closed(client: MqttClient): Promise<void> {
  await new Promise<void>((resolve) => {
    client.once('close', resolve)
  })
}

const send = (client: MqttClient, streamId: string) =>
  client.publishAsync(`streams/${streamId}/data`, '{"temperature": 1}', { qos: 1 })

describe('a device', () => {
  test('publishes readings of its own stream, and of no other one of its user', async () => {
    const before = await received(ada, own)
    const client = await connect(await newDevice(ada, { streamIds: [own] }))

    for (const streamId of [other, own]) await send(client, streamId)
    for (const streamId of [other, own]) {
      const topic = `streams/${streamId}/data`
      await client.publishAsync(topic, '{"temperature": 2}', { qos: 2 })
    }

    expect([(await received(ada, own)) - before, await received(ada, other)]).toEqual([2, 0])
  })

  test('connects by a token of its key, too', async () => {
    const { apiKey, apiSecret } = await newDevice(ada, { streamIds: [own] })
    const { body } = await service.api.request<{ accessToken: string }>('POST', '/auth/token', {
      body: { apiKey, apiSecret },
    })
    const before = await received(ada, own)
    const client = await connect({ apiKey: 'bearer', apiSecret: body.accessToken })

    await send(client, own)

    expect((await received(ada, own)) - before).toBe(1)
  })

  test('with a wrong secret is refused like one that nobody has', async () => {
    const device = await newDevice(ada, { streamIds: [own] })

    for (const apiKey of [device.apiKey, 'sv_dev_000000000000000000000000']) {
      await expect(connect({ apiKey, apiSecret: 'wrong' })).rejects.toThrow(
        /Bad username or password/,
      )
    }
  })

  test('connects with its client id only, where it has one', async () => {
    const device = await newDevice(ada, { streamIds: [own], clientId: 'boiler-7' })

    await connect(device, { clientId: 'boiler-7' })

    await expect(connect(device, { clientId: 'boiler-8' })).rejects.toThrow(/Identifier rejected/)
  })

  test('is dropped when it is revoked, and no other one is', async () => {
    const [doomed, spared] = [
      await newDevice(ada, { streamIds: [own] }),
      await newDevice(ada, { streamIds: [own] }),
    ]
    const [ended, kept] = [await connect(doomed), await connect(spared)]
    const closing = closed(ended)
    const before = await received(ada, own)

    await ada.withKey('POST', `/devices/${doomed.id}/revoke`)

    await closing
    await send(kept, own)
    expect((await received(ada, own)) - before).toBe(1)
    await expect(connect(doomed)).rejects.toThrow(/Bad username or password/)
  })

  test('is dropped when it is deleted', async () => {
    const device = await newDevice(ada, { streamIds: [own] })
    const closing = closed(await connect(device))

    await ada.withKey('DELETE', `/devices/${device.id}`)

    await closing
  })

  test('is dropped when it may do something else, and then does that', async () => {
    const { streamIds } = await newStreams(ada, 2)
    const [before = '', after = ''] = streamIds
    const device = await newDevice(ada, { streamIds: [before] })
    const closing = closed(await connect(device))

    await ada.withKey('PUT', `/devices/${device.id}`, { streamIds: [after] })

    await closing
    const client = await connect(device)
    await send(client, before)
    await send(client, after)
    expect([await received(ada, before), await received(ada, after)]).toEqual([0, 1])
  })

  test('is dropped when its user is deleted', async () => {
    const bob = await newPerson(service.api)
    const { streamIds } = await newStreams(bob)
    const closing = closed(await connect(await newDevice(bob, { streamIds })))

    await service.api.withKey('DELETE', `/users/${bob.userId}`)

    await closing
  })

  test('is dropped when it expires, within a second or two', async () => {
    const expiresAt = new Date(Date.now() + 1_500).toISOString()
    const device = await newDevice(ada, { streamIds: [own], expiresAt })
    const closing = closed(await connect(device))

    await closing

    const lateMs = Date.now() - Date.parse(expiresAt)
    expect(lateMs).toBeGreaterThanOrEqual(0)
    expect(lateMs).toBeLessThan(3_000)
  })

  test('goes on when its secret is rotated with an overlap, and is dropped without', async () => {
    const device = await newDevice(ada, { streamIds: [own] })
    const client = await connect(device)
    const before = await received(ada, own)

    const path = `/devices/${device.id}/rotate`
    const { body: rotated } = await ada.withKey<MadeDevice>('POST', path)
    await send(client, own)
    await send(await connect(rotated), own)

    expect((await received(ada, own)) - before).toBe(2)
    const closing = closed(client)
    await ada.withKey('POST', path, { overlapSeconds: 0 })
    await closing
  })
})

test('a device with a rate is read more slowly, and loses nothing', async () => {
  const { streamIds } = await newStreams(ada)
  const [streamId = ''] = streamIds
  // A stream that is at hand: readings that wait for one are counted when it is there.
  await ada.withKey('POST', `/streams/${streamId}/data`, { temperature: -1 })
  const rateLimit = { readingsPerSecond: 0.001, burst: 3 }
  const device = await newDevice(ada, { streamIds, rateLimit })
  const client = await connect(device, { reconnectPeriod: 50, clean: false, clientId: 'slow' })
  const sent = Array.from({ length: 6 }, (_, index) =>
    client.publishAsync(`streams/${streamId}/data`, `{"temperature": ${index}}`, { qos: 1 }),
  )

  await Promise.all(sent.slice(0, 3))
  expect(await received(ada, streamId)).toBe(1 + 3)
  expect(client.connected).toBe(true)

  await ada.withKey('PUT', `/devices/${device.id}`, { rateLimit: null })
  await Promise.all(sent)
  expect(await received(ada, streamId)).toBe(1 + 6)
})

test('a debt of more than a month is waited for, too', async () => {
  const { streamIds } = await newStreams(ada)
  const [streamId = ''] = streamIds
  await ada.withKey('POST', `/streams/${streamId}/data`, { temperature: -1 })
  const rateLimit = { readingsPerSecond: 0.00001, burst: 1 }
  const client = await connect(await newDevice(ada, { streamIds, rateLimit }))
  const topic = `streams/${streamId}/data`
  const batch = JSON.stringify(Array.from({ length: 100 }, (_, index) => ({ temperature: index })))

  await client.publishAsync(topic, batch, { qos: 1 })
  client.publish(topic, '{"temperature": 1}', { qos: 1 })

  // Another one that is sent later and answered shows that there was time to read this one.
  const other = await connect(ada.key)
  for (let count = 0; count < 20; count++) await send(other, own)
  expect(await received(ada, streamId)).toBe(1 + 100)
})

test('devices of one user with one client id do not take each other for a packet sent again', async () => {
  const { streamIds } = await newStreams(ada)
  const [streamId = ''] = streamIds
  for (const { apiKey, apiSecret } of [
    await newDevice(ada, { streamIds }),
    await newDevice(ada, { streamIds }),
  ]) {
    const raw = await RawMqttConnection.open(service.process.mqttPort)
    raw.send(
      connectPacket({ clientId: 'as made', username: apiKey, password: apiSecret }),
      publishPacket({
        topic: `streams/${streamId}/data`,
        payload: '{"temperature": 1}',
        packetId: 1,
        isDup: true,
      }),
    )
    await raw.next(2)
    raw.destroy()
  }

  const stored = async () => {
    const path = `/streams/${streamId}/status`
    const { body } = await ada.withToken<{ counters: object }>('GET', path)
    return body.counters
  }
  await expect.poll(stored).toMatchObject({ received: 2, stored: 2, duplicates: 0 })
})

test('what waits for a device is not sent to it once it is of a stream of others', async () => {
  const { vaultId, streamIds } = await newStreams(ada)
  const { body } = await ada.withToken<{ streamId: string }>('POST', '/streams', {
    name: 'on a topic',
    vaultId,
    type: 'iot_sensor',
    source: { topic: 'plant/1' },
    schema: { temperature: { type: 'number' } },
  })
  const device = await newDevice(ada, { streamIds: [body.streamId] })
  const options = { clean: false, clientId: 'away' }
  const before = await listening(device, options)
  expect(await before.subscribe(['plant/1', `${device.commandTopic}set`])).toEqual([1, 1])
  await before.mqtt.endAsync()
  await ada.withKey('PUT', `/devices/${device.id}`, { streamIds })
  const owner = await connect(ada.key)
  await owner.publishAsync('plant/1', '{"temperature": 1}', { qos: 1 })
  // After it, and by the same way.
  await expect.poll(() => received(ada, body.streamId)).toBe(1)
  await owner.publishAsync(`${device.commandTopic}set`, 'on', { qos: 1 })

  const after = await listening(device, options)

  await expect.poll(() => after.messages.length).toBeGreaterThan(0)
  expect(after.messages.map(({ topic }) => topic)).toEqual([`${device.commandTopic}set`])
})

describe('the space of a device', () => {
  const refused = 0x80

  test('is its own part of the space of its user, and its own streams', async () => {
    const device = await newDevice(ada, { streamIds: [own] })
    const sibling = await newDevice(ada, { streamIds: [own] })
    const client = await listening(device)
    const filters = {
      [`${device.commandTopic}#`]: 1,
      [`${device.commandTopic}+/set`]: 1,
      [`streams/${own}/data`]: 1,
      [`streams/${own}/events`]: 1,
      [`streams/${other}/data`]: refused,
      [`streams/${other}/events`]: refused,
      [`users/${ada.userId}/#`]: refused,
      [`users/${ada.userId}/commands`]: refused,
      [`users/${ada.userId}/devices/#`]: refused,
      [`users/${ada.userId}/devices/+/set`]: refused,
      [`${sibling.commandTopic}#`]: refused,
      '#': refused,
    }

    expect(await client.subscribe(Object.keys(filters))).toEqual(Object.values(filters))
  })

  test('carries commands to it, and what it tells back, and nothing further', async () => {
    const device = await newDevice(ada, { streamIds: [own] })
    const boiler = await listening(device)
    const owner = await listening(ada.key)
    await boiler.subscribe(`${device.commandTopic}set`)
    await owner.subscribe(`users/${ada.userId}/#`)

    await owner.mqtt.publishAsync(`${device.commandTopic}set`, 'on', { qos: 1 })
    await expect.poll(() => boiler.messages.map(({ payload }) => payload)).toEqual(['on'])
    for (const topic of [`users/${ada.userId}/all`, `${device.commandTopic}state`]) {
      await boiler.mqtt.publishAsync(topic, 'told', { qos: 1 })
    }

    await expect
      .poll(() => owner.messages.map(({ topic }) => topic))
      .toEqual([`${device.commandTopic}set`, `${device.commandTopic}state`])
  })

  test('is not reached by a will from outside', async () => {
    const device = await newDevice(ada, { streamIds: [own] })
    const will = { topic: `users/${ada.userId}/all`, payload: Buffer.from('gone'), qos: 1 as const }

    await expect(connect(device, { will: { ...will, retain: false } })).rejects.toThrow(
      /Not authorized/,
    )
  })

  test('is not left to another device with the same client id', async () => {
    const [one, two] = [
      await newDevice(ada, { streamIds: [own] }),
      await newDevice(ada, { streamIds: [own] }),
    ]
    const first = await listening(one, { clientId: 'boiler' })
    await listening(two, { clientId: 'boiler' })

    expect(await first.subscribe(`${one.commandTopic}set`)).toEqual([1])
  })
})
