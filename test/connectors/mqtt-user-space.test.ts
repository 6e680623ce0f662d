import { describe, expect, test } from 'vitest'
import { packetTypes } from '../support/mqtt-bytes.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { connectPacket, RawMqttConnection, subscribePacket } from '../support/mqtt-packets.ts'
import { createKey, newPerson, streamOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService()
const connect = mqttClients(() => service.process.mqttPort)

describe('a subscription', () => {
  test('that overlaps another delivers one copy, with the highest QoS [MQTT-3.3.5-1]', async () => {
    const ada = await newPerson(service.api)
    const space = `users/${ada.userId}`
    const [device, sender] = [await connect(ada.key), await connect(ada.key)]
    await device.subscribe(`${space}/#`, 0)
    await device.subscribe(`${space}/commands/+`, 2)
    await device.subscribe(`${space}/commands/boiler`, 1)

    await sender.mqtt.publishAsync(`${space}/commands/boiler`, 'open', { qos: 2 })
    await sender.mqtt.publishAsync(`${space}/last`, 'end', { qos: 0 })

    await expect.poll(() => device.messages.map(({ payload }) => payload)).toContain('end')
    expect(device.messages.filter(({ payload }) => payload === 'open')).toMatchObject([{ qos: 2 }])
  })

  test('with a wildcard gets no higher QoS than it was granted [MQTT-3.8.4-6]', async () => {
    const ada = await newPerson(service.api)
    const [device, sender] = [await connect(ada.key), await connect(ada.key)]
    await device.subscribe(`users/${ada.userId}/#`, 1)

    await sender.mqtt.publishAsync(`users/${ada.userId}/commands`, 'open', { qos: 2 })

    await expect.poll(() => device.messages).toMatchObject([{ payload: 'open', qos: 1 }])
  })

  test('to one filter twice is answered twice [MQTT-3.8.4-5]', async () => {
    const ada = await newPerson(service.api)
    const { apiKey: username, apiSecret: password } = ada.key
    const connection = await RawMqttConnection.open(service.process.mqttPort)
    connection.send(connectPacket({ clientId: 'twice', username, password }))
    await connection.next()
    const topic = `users/${ada.userId}/commands`

    connection.send(subscribePacket(7, [topic, 'users/nobody/x', topic]))

    const [suback] = await connection.next()
    expect(suback?.type).toBe(packetTypes.suback)
    expect([...(suback?.body ?? [])]).toEqual([0, 7, 1, 0x80, 1])
    connection.destroy()
  })

  test('that was refused is not kept by a persistent session either', async () => {
    const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
    const session = { clientId: 'curious', clean: false }
    const [own, foreign] = [`users/${ada.userId}/news`, `users/${bob.userId}/news`]
    const before = await connect(ada.key, session)
    expect(await before.subscribe([foreign, own])).toEqual([0x80, 1])
    await before.mqtt.endAsync()

    const after = await connect(ada.key, session)
    await (await connect(bob.key)).mqtt.publishAsync(foreign, 'secret', { qos: 1 })
    await (await connect(ada.key)).mqtt.publishAsync(own, 'public', { qos: 1 })

    await expect.poll(() => after.messages).toMatchObject([{ payload: 'public' }])
  })

  test('that has ended gets nothing more', async () => {
    const ada = await newPerson(service.api)
    const [device, sender] = [await connect(ada.key), await connect(ada.key)]
    const topic = `users/${ada.userId}/commands`
    await device.subscribe([topic, `users/${ada.userId}/last`])

    await device.mqtt.unsubscribeAsync(topic)
    await sender.mqtt.publishAsync(topic, 'open', { qos: 1 })
    await sender.mqtt.publishAsync(`users/${ada.userId}/last`, 'end', { qos: 1 })

    await expect.poll(() => device.messages).toMatchObject([{ payload: 'end' }])
  })
})

describe('a retained message', () => {
  test.each([true, false])('is sent to who subscribes later (clean: %s)', async (clean) => {
    const ada = await newPerson(service.api)
    const topic = `users/${ada.userId}/settings/boiler`
    const sender = await connect(ada.key)
    await sender.mqtt.publishAsync(topic, 'hot', { qos: 1, retain: true })

    const device = await connect(ada.key, { clientId: 'late', clean })
    await device.subscribe(`users/${ada.userId}/settings/#`, 2)

    await expect
      .poll(() => device.messages)
      .toEqual([{ topic, payload: 'hot', qos: 1, retain: true }])
  })

  test('is taken away by an empty one', async () => {
    const ada = await newPerson(service.api)
    const topic = `users/${ada.userId}/settings`
    const sender = await connect(ada.key)
    await sender.mqtt.publishAsync(topic, 'hot', { qos: 1, retain: true })
    await sender.mqtt.publishAsync(topic, '', { qos: 1, retain: true })

    const device = await connect(ada.key)
    await device.subscribe(`users/${ada.userId}/#`)
    await sender.mqtt.publishAsync(`users/${ada.userId}/last`, 'end', { qos: 1 })

    await expect.poll(() => device.messages).toMatchObject([{ payload: 'end' }])
  })
})

describe('a persistent session', () => {
  test('gets what was sent while its client was away, in order', async () => {
    const ada = await newPerson(service.api)
    const session = { clientId: 'sleeper', clean: false }
    const topic = `users/${ada.userId}/commands`
    const before = await connect(ada.key, session)
    await before.subscribe(topic, 2)
    await before.mqtt.endAsync()
    const sender = await connect(ada.key)
    for (const payload of ['1', '2', '3'])
      await sender.mqtt.publishAsync(topic, payload, { qos: 2 })

    const after = await connect(ada.key, session)

    await expect
      .poll(() => after.messages.map(({ payload, qos }) => [payload, qos]))
      .toEqual([
        ['1', 2],
        ['2', 2],
        ['3', 2],
      ])
  })
})

describe('a will', () => {
  test.each([
    ['the space of its user', 'users/{user}/gone', 0],
    ['a stream of its user', 'streams/{stream}/data', 0],
    ['the space of somebody else', 'users/{other}/gone', 5],
    ['a stream of somebody else', 'streams/{foreign}/data', 5],
    ['no stream', 'streams/boiler/data', 5],
    ['anything else', 'factory/hall-3', 5],
    ['the broker itself', '$SYS/gone', 5],
  ])('for %s is answered', async (_, topic, returnCode) => {
    const [ada, bob] = [await newPerson(service.api), await newPerson(service.api)]
    const written = topic
      .replace('{user}', ada.userId)
      .replace('{other}', bob.userId)
      .replace('{stream}', await streamOf(ada))
      .replace('{foreign}', await streamOf(bob))
    const connection = await RawMqttConnection.open(service.process.mqttPort)
    const { apiKey: username, apiSecret: password } = ada.key
    const will = { topic: written, payload: '{"temperature": 1}' }

    connection.send(connectPacket({ clientId: 'mortal', username, password, will }))

    const [connack] = await connection.next()
    expect(connack?.body[1]).toBe(returnCode)
    connection.destroy()
  })

  test('to its space is sent when the client vanishes, and kept when it is retained', async () => {
    const ada = await newPerson(service.api)
    const topic = `users/${ada.userId}/gone`
    const listener = await connect(ada.key)
    await listener.subscribe(topic)
    const will = { topic, payload: Buffer.from('lost'), qos: 1, retain: true } as const
    const mortal = await connect(ada.key, { will })

    mortal.mqtt.stream.destroy()

    await expect.poll(() => listener.messages).toMatchObject([{ payload: 'lost', retain: false }])
    const late = await connect(ada.key)
    await late.subscribe(topic)
    await expect.poll(() => late.messages).toMatchObject([{ payload: 'lost', retain: true }])
  })

  test('is not sent after DISCONNECT', async () => {
    const ada = await newPerson(service.api)
    const topic = `users/${ada.userId}/gone`
    const listener = await connect(ada.key)
    await listener.subscribe(`users/${ada.userId}/+`)
    const will = { topic, payload: Buffer.from('lost'), qos: 1, retain: false } as const
    const leaving = await connect(ada.key, { will })

    await leaving.mqtt.endAsync()
    await (await connect(ada.key)).mqtt.publishAsync(`users/${ada.userId}/last`, 'end', { qos: 1 })

    await expect.poll(() => listener.messages).toMatchObject([{ payload: 'end' }])
  })
})

describe('a key that is revoked', () => {
  test('ends its subscriptions', async () => {
    const ada = await newPerson(service.api)
    const doomed = await createKey(service.api, { userId: ada.userId })
    const topic = `users/${ada.userId}/commands`
    const [ended, kept] = [await connect(doomed), await connect(ada.key)]
    await ended.subscribe(topic)
    await kept.subscribe(topic)

    await service.api.withKey('DELETE', `/keys/${doomed.apiKey}`)
    await kept.mqtt.publishAsync(topic, 'open', { qos: 1 })

    await expect.poll(() => kept.messages).toMatchObject([{ payload: 'open' }])
    expect(ended.messages).toEqual([])
  })
})
