import { describe, expect, test } from 'vitest'
import { packet, u16 } from '../support/mqtt-bytes.ts'
import {
  disconnectPacket,
  type Filter,
  publishPacket,
  subscribePacket,
  unsubscribePacket,
} from '../support/raw-mqtt.ts'
import {
  drain,
  newPacketId,
  payloads,
  publish,
  receive,
  subscribe,
  testedBroker,
} from './tested-broker.ts'

const broker = testedBroker()

function topicBelow(): string {
  return broker.newRoot()
}

describe('SUBSCRIBE', () => {
  test('[MQTT-3.8.4-1] [MQTT-3.8.4-2] [MQTT-3.8.4-5] [MQTT-3.9.3-1] is answered with one code for each filter, in their order', async () => {
    const client = await broker.connect()
    const root = broker.newRoot()
    const filters: Filter[] = [
      [`${root}/a`, 2],
      ['somewhere/else', 1],
      [`${root}/b`, 0],
      [`${root}/+/c/#`, 1],
      [`users/00000000-0000-4000-8000-000000000000/#`, 2],
      [`${root}/a`, 1],
    ]

    client.send(subscribePacket(300, ...filters))

    expect(await client.next()).toEqual({
      type: 'suback',
      packetId: 300,
      codes: [2, 0x80, 0, 1, 0x80, 1],
    })
  })

  test.each(['#', '+/#', '+', '$SYS/#', 'users/#', 'users/+/x', 'streams/#', '/', '$share/g/x'])(
    '[MQTT-3.9.3-2] to %s, which is not of the user, is answered with 0x80',
    async (filter) => {
      const client = await broker.connect()

      expect(await subscribe(client, [filter, 1])).toEqual([0x80])
    },
  )

  test('[MQTT-3.8.4-4] with several filters is like several with one', async () => {
    const [client, publisher] = [await broker.connect(), await broker.connect()]
    const root = broker.newRoot()
    const names = Array.from({ length: 40 }, (_, index) => `${index}`)

    const codes = await subscribe(
      client,
      ...names.map((name, index): Filter => [`${root}/${name}`, index % 3]),
    )

    expect(codes).toEqual(names.map((_, index) => index % 3))
    for (const name of names) {
      await publish(publisher, { topic: `${root}/${name}`, payload: name, qos: 1 })
    }
    const delivered = await drain(broker, client, publisher)
    expect(new Set(payloads(delivered))).toEqual(new Set(names))
  })

  test('[MQTT-3.8.4-4] with the same filter twice is like two: the last one counts', async () => {
    const [client, publisher] = [await broker.connect(), await broker.connect()]
    const topic = broker.newRoot()

    expect(await subscribe(client, [topic, 0], [topic, 2], [topic, 1])).toEqual([0, 2, 1])

    await publish(publisher, { topic, payload: 'once', qos: 2 })
    expect(await drain(broker, client, publisher)).toMatchObject([{ payload: 'once', qos: 1 }])
  })

  test.each([
    [0, 2],
    [2, 0],
    [1, 2],
    [2, 1],
  ])(
    '[MQTT-3.8.4-3] with a filter of QoS %i again, at %i, replaces the subscription',
    async (before, after) => {
      const [client, publisher] = [await broker.connect(), await broker.connect()]
      const topic = broker.newRoot()
      await subscribe(client, [topic, before])

      expect(await subscribe(client, [topic, after])).toEqual([after])

      await publish(publisher, { topic, payload: 'once', qos: 2 })
      expect(await drain(broker, client, publisher)).toMatchObject([
        { payload: 'once', qos: after },
      ])
    },
  )

  test('[MQTT-3.8.4-3] again does not interrupt the flow of messages', async () => {
    const [client, publisher] = [await broker.connect(), await broker.connect()]
    const topic = broker.newRoot()
    await subscribe(client, [topic, 1])
    const expected = Array.from({ length: 50 }, (_, index) => `${index}`)

    for (const [index, payload] of expected.entries()) {
      publisher.send(publishPacket({ topic, payload, qos: 1, packetId: index + 1 }))
      if (index % 10 === 5) client.send(subscribePacket(newPacketId(), [topic, 1]))
    }

    const delivered = await receive(client, expected.length)
    expect(payloads(delivered)).toEqual(expected)
  })

  test('[MQTT-3.8.4-5] is answered before the first message of the subscription', async () => {
    const client = await broker.connect()
    const topic = broker.newRoot()

    client.send(subscribePacket(1, [topic, 1]), publishPacket({ topic, payload: 'x' }))

    expect((await client.take(2)).map(({ type }) => type)).toEqual(['suback', 'publish'])
  })

  const wrong: Record<string, () => Buffer> = {
    '[MQTT-3.8.3-3] without a filter': () => packet('subscribe', 2, u16(1)),
    '[MQTT-3-8.3-4] with QoS 3': () => subscribePacket(1, [topicBelow(), 3]),
    '[MQTT-3-8.3-4] with a reserved bit': () => subscribePacket(1, [topicBelow(), 0x81]),
    '[MQTT-3-8.3-4] with the options of version 5': () => subscribePacket(1, [topicBelow(), 0x04]),
    '[MQTT-3-8.3-4] with QoS 3 behind a good filter': () =>
      subscribePacket(1, [topicBelow(), 1], [topicBelow(), 3]),
    '[MQTT-3.8.3-1] with a filter that is no UTF-8': () =>
      subscribePacket(1, [Buffer.concat([Buffer.from(topicBelow()), Buffer.from([0xff])]), 0]),
    '[MQTT-4.7.3-1] with an empty filter': () => subscribePacket(1, ['', 0]),
    '[MQTT-4.7.3-2] with NUL in its filter': () => subscribePacket(1, [`${topicBelow()}/\0`, 0]),
    '[MQTT-4.7.1-2] with # before the end': () => subscribePacket(1, [`${topicBelow()}/#/x`, 0]),
    '[MQTT-4.7.1-2] with # behind a name': () => subscribePacket(1, [`${topicBelow()}/x#`, 0]),
    '[MQTT-4.7.1-2] with # behind one letter': () => subscribePacket(1, ['x#', 0]),
    '[MQTT-4.7.1-2] with # twice': () => subscribePacket(1, [`${topicBelow()}/##`, 0]),
    '[MQTT-4.7.1-3] with + behind a name': () => subscribePacket(1, [`${topicBelow()}/x+`, 0]),
    '[MQTT-4.7.1-3] with + before a name': () => subscribePacket(1, [`${topicBelow()}/+x/y`, 0]),
    '[MQTT-4.7.1-3] with + behind one letter': () => subscribePacket(1, ['x+', 0]),
    '[MQTT-4.7.1-3] with + before one letter': () => subscribePacket(1, ['+x', 0]),
    '[MQTT-4.7.1-3] with + twice': () => subscribePacket(1, [`${topicBelow()}/++`, 0]),
    '[MQTT-4.7.1-3] with both in one level': () => subscribePacket(1, [`${topicBelow()}/+#`, 0]),
  }

  test.each(Object.entries(wrong))('%s closes the connection', async (_, bytes) => {
    const client = await broker.connect()

    client.send(bytes())

    expect(await client.end()).toEqual([])
  })
})

describe('overlapping subscriptions', () => {
  test.each([0, 1, 2])(
    '[MQTT-3.3.5-1] bring a message of QoS %i with the highest QoS that one of them has',
    async (qos) => {
      const [client, publisher] = [await broker.connect(), await broker.connect()]
      const top = broker.newRoot()
      await subscribe(client, [`${top}/+`, 0], [`${top}/#`, 2], [`${top}/x`, 1], [`${top}/+/#`, 1])

      await publish(publisher, { topic: `${top}/x`, payload: 'x', qos })

      // [MQTT-3.3.5-1] allows a copy for each subscription: at least one has the highest QoS.
      const delivered = await drain(broker, client, publisher)
      expect(Math.max(...delivered.map((message) => message.qos))).toBe(qos)
      expect(new Set(payloads(delivered))).toEqual(new Set(['x']))
    },
  )

  test.each([1, 2])(
    '[MQTT-3.3.5-1] of an absent client keep a message of QoS %i with the highest QoS',
    async (qos) => {
      const clientId = broker.newClientId()
      const top = broker.newRoot()
      const absent = await broker.connect({ clientId, clean: false })
      await subscribe(absent, [`${top}/+`, 0], [`${top}/x`, 1], [`${top}/#`, 2])
      absent.send(disconnectPacket)
      await absent.end()
      const publisher = await broker.connect()
      await publish(publisher, { topic: `${top}/x`, payload: 'x', qos })

      const client = await broker.open()
      client.send(broker.connectPacket({ clientId, clean: false }))
      expect(await client.next()).toMatchObject({ type: 'connack', sessionPresent: true })

      const delivered = await drain(broker, client, publisher)
      expect(Math.max(...delivered.map((message) => message.qos))).toBe(qos)
    },
  )

  test('[MQTT-3.10.4-1] end one by one', async () => {
    const [client, publisher] = [await broker.connect(), await broker.connect()]
    const top = broker.newRoot()
    await subscribe(client, [`${top}/x`, 1], [`${top}/#`, 1])

    client.send(unsubscribePacket(1, `${top}/#`))

    expect(await client.next()).toEqual({ type: 'unsuback', packetId: 1 })
    await publish(publisher, { topic: `${top}/x`, payload: 'x', qos: 1 })
    await publish(publisher, { topic: `${top}/y`, payload: 'y', qos: 1 })
    expect(payloads(await drain(broker, client, publisher))).toEqual(['x'])
  })
})
