import type { MqttClient } from 'mqtt'
import { beforeAll, describe, expect, test } from 'vitest'
import { type MadeDevice, newDevice, newStreams } from '../support/devices.ts'
import { closed, mqttClients } from '../support/mqtt-clients.ts'
import { newPerson, type Person, received } from '../support/people.ts'
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

  test('is dropped when it expires, and not before', async () => {
    // Time enough for it to come in before.
    const expiresAt = new Date(Date.now() + 8_000).toISOString()
    const device = await newDevice(ada, { streamIds: [own], expiresAt })
    const closing = closed(await connect(device))

    await closing

    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expiresAt))
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
