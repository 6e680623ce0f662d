import { describe, expect, test } from 'vitest'
import { ackPacket, publishPacket, unsubscribePacket } from '../support/raw-mqtt.ts'
import type { Delivered } from '../support/raw-mqtt-reader.ts'
import { drain, pair, publish, receive, subscribe, testedBroker } from './tested-broker.ts'

const broker = testedBroker()

describe('the quality of service', () => {
  const published = [0, 1, 2]
  const granted = [0, 1, 2]
  const combinations = published.flatMap((qos) => granted.map((max) => [qos, max] as const))

  test.each(combinations)(
    '[MQTT-3.8.4-6] [MQTT-3.3.5-1] of a message of %i for a subscription of %i is the lower one',
    async (qos, max) => {
      const { publisher, subscriber, topic } = await pair(broker, max)

      await publish(publisher, { topic, payload: 'x', qos })

      expect(await drain(broker, subscriber, publisher)).toMatchObject([
        { payload: 'x', qos: Math.min(qos, max) },
      ])
    },
  )

  test.each(combinations)(
    '[MQTT-3.8.4-6] of a message of %i for a wildcard subscription of %i is the lower one',
    async (qos, max) => {
      const [publisher, subscriber] = [await broker.connect(), await broker.connect()]
      const root = broker.newRoot()
      await subscribe(subscriber, [`${root}/+/x`, max])

      await publish(publisher, { topic: `${root}/a/x`, payload: 'x', qos })

      expect(await drain(broker, subscriber, publisher)).toMatchObject([
        { payload: 'x', qos: Math.min(qos, max) },
      ])
    },
  )

  test('[MQTT-4.3.2-1] 1: messages on their way have each a packet id of their own', async () => {
    const { publisher, subscriber, topic } = await pair(broker, 1)
    for (let index = 0; index < 30; index++) await publish(publisher, { topic, qos: 1 })

    const messages = (await subscriber.take(30)) as Delivered[]

    expect(new Set(messages.map(({ packetId }) => packetId)).size).toBe(30)
    expect(messages.every(({ qos, dup }) => qos === 1 && !dup)).toBe(true)
  })

  test('[MQTT-4.3.2-2] 1: after its PUBACK a packet with the same id, even with DUP, is a new one', async () => {
    const { publisher, subscriber, topic } = await pair(broker, 1)
    for (const [index, dup] of [false, false, true].entries()) {
      publisher.send(publishPacket({ topic, payload: `${index}`, qos: 1, packetId: 5, dup }))
      expect(await publisher.next()).toEqual({ type: 'puback', packetId: 5 })
    }

    const messages = await drain(broker, subscriber, publisher)

    expect(messages.map(({ payload }) => payload)).toEqual(['0', '1', '2'])
  })

  test('[MQTT-4.3.3-1] 2: the server sends PUBLISH, PUBREL after PUBREC, and is done with PUBCOMP', async () => {
    const { publisher, subscriber, topic } = await pair(broker, 2)
    await publish(publisher, { topic, payload: 'exactly', qos: 2 })

    const message = (await subscriber.next()) as Delivered
    expect(message).toMatchObject({ type: 'publish', payload: 'exactly', qos: 2, dup: false })
    const { packetId } = message
    subscriber.send(ackPacket('pubrec', packetId))
    expect(await subscriber.next()).toEqual({ type: 'pubrel', packetId })
    subscriber.send(ackPacket('pubcomp', packetId))

    expect(await drain(broker, subscriber, publisher)).toEqual([])
  })

  test('[MQTT-4.3.3-2] 2: until PUBREL the same packet id is the same message', async () => {
    const { publisher, subscriber, topic } = await pair(broker, 2)
    const message = { topic, payload: 'once', qos: 2, packetId: 5 }

    publisher.send(publishPacket(message))
    expect(await publisher.next()).toEqual({ type: 'pubrec', packetId: 5 })
    publisher.send(publishPacket({ ...message, dup: true }))
    expect(await publisher.next()).toEqual({ type: 'pubrec', packetId: 5 })
    publisher.send(ackPacket('pubrel', 5))
    expect(await publisher.next()).toEqual({ type: 'pubcomp', packetId: 5 })

    const messages = await drain(broker, subscriber, publisher)
    expect(messages.map(({ payload }) => payload)).toEqual(['once'])
  })

  test('[MQTT-4.3.3-2] 2: after PUBCOMP the same packet id is a new message', async () => {
    const { publisher, subscriber, topic } = await pair(broker, 2)

    for (const payload of ['first', 'second']) {
      publisher.send(publishPacket({ topic, payload, qos: 2, packetId: 5 }))
      expect(await publisher.next()).toEqual({ type: 'pubrec', packetId: 5 })
      publisher.send(ackPacket('pubrel', 5))
      expect(await publisher.next()).toEqual({ type: 'pubcomp', packetId: 5 })
    }

    const messages = await drain(broker, subscriber, publisher)
    expect(messages.map(({ payload }) => payload)).toEqual(['first', 'second'])
  })

  test('[MQTT-4.3.3-2] 2: PUBREL of an unknown packet id is answered with PUBCOMP', async () => {
    const client = await broker.connect()

    client.send(ackPacket('pubrel', 4_711))

    expect(await client.next()).toEqual({ type: 'pubcomp', packetId: 4_711 })
  })

  test('[MQTT-3.10.4-3] of what was begun is kept to the end, also when the subscription ends', async () => {
    const { publisher, subscriber, topic } = await pair(broker, 2)
    await publish(publisher, { topic, payload: 'begun', qos: 2 })
    const { packetId } = (await subscriber.next()) as Delivered

    subscriber.send(unsubscribePacket(9, topic))
    expect(await subscriber.next()).toEqual({ type: 'unsuback', packetId: 9 })
    subscriber.send(ackPacket('pubrec', packetId))
    expect(await subscriber.next()).toEqual({ type: 'pubrel', packetId })
    subscriber.send(ackPacket('pubcomp', packetId))

    expect(await drain(broker, subscriber, publisher)).toEqual([])
  })

  test('[MQTT-4.8.0-1] acknowledgements of unknown packet ids do no harm to a session', async () => {
    const { publisher, subscriber, topic } = await pair(broker, 1)

    subscriber.send(ackPacket('puback', 999), ackPacket('pubcomp', 998))

    await publish(publisher, { topic, payload: 'still here', qos: 1 })
    expect(await receive(subscriber, 1)).toMatchObject([{ payload: 'still here' }])
  })
})

describe('the order', () => {
  test.each([0, 1, 2])(
    '[MQTT-4.6.0-5] [MQTT-4.6.0-6] of messages of QoS %i to one topic is kept for every subscriber',
    async (qos) => {
      const topic = `${broker.newRoot()}/ordered`
      const subscribers = [await broker.connect(), await broker.connect({ clean: false })]
      for (const subscriber of subscribers) await subscribe(subscriber, [topic, qos])
      const publisher = await broker.connect()
      const expected = Array.from({ length: 60 }, (_, index) => `${index}`)

      for (const [index, payload] of expected.entries()) {
        const packetId = index + 1
        publisher.send(publishPacket({ topic, payload, qos, packetId }))
        if (qos === 2) publisher.send(ackPacket('pubrel', packetId))
      }

      for (const subscriber of subscribers) {
        const messages = await receive(subscriber, expected.length)
        expect(messages.map(({ payload }) => payload)).toEqual(expected)
      }
    },
  )

  test.each([0, 1, 2])(
    '[MQTT-4.6.0-6] of messages of QoS %i to one topic is kept where only some are retained',
    async (qos) => {
      const { publisher, subscriber, topic } = await pair(broker, qos)
      const expected = Array.from({ length: 40 }, (_, index) => `${index}`)

      for (const [index, payload] of expected.entries()) {
        const packetId = index + 1
        publisher.send(publishPacket({ topic, payload, qos, packetId, retain: index % 3 === 0 }))
        if (qos === 2) publisher.send(ackPacket('pubrel', packetId))
      }

      const messages = await receive(subscriber, expected.length)
      expect(messages.map(({ payload }) => payload)).toEqual(expected)
    },
  )

  test('[MQTT-4.6.0-2] [MQTT-4.6.0-3] of PUBACKs, and of PUBRECs, is that of the messages', async () => {
    const publisher = await broker.connect()
    const topic = broker.newRoot()
    const ids = Array.from({ length: 60 }, (_, index) => index + 1)

    publisher.send(
      ...ids.map((packetId) => publishPacket({ topic, qos: 1 + (packetId % 2), packetId })),
    )

    const answers = await publisher.take(60)
    for (const [type, rest] of [
      ['puback', 0],
      ['pubrec', 1],
    ] as const) {
      const ofType = answers.filter((answer) => answer.type === type)
      const expected = ids.filter((packetId) => packetId % 2 === rest)
      expect(ofType).toEqual(expected.map((packetId) => ({ type, packetId })))
    }
  })

  test('[MQTT-4.6.0-4] of PUBRELs is that of the PUBRECs', async () => {
    const { publisher, subscriber, topic } = await pair(broker, 2)
    for (let index = 0; index < 20; index++) await publish(publisher, { topic, qos: 2 })
    const messages = (await subscriber.take(20)) as Delivered[]
    const ids = messages.map(({ packetId }) => packetId)

    subscriber.send(...ids.map((packetId) => ackPacket('pubrec', packetId)))

    expect(await subscriber.take(20)).toEqual(ids.map((packetId) => ({ type: 'pubrel', packetId })))
  })
})
