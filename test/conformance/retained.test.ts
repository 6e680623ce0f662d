import { describe, expect, test } from 'vitest'
import { disconnectPacket } from '../support/raw-mqtt.ts'
import type { Delivered } from '../support/raw-mqtt-reader.ts'
import { drain, publish, receive, retainedFor, subscribe, testedBroker } from './tested-broker.ts'

const broker = testedBroker()

/** What a new subscriber to a filter is sent at once. */
async function retained(filter: string, qos = 2): Promise<Delivered[]> {
  const [subscriber, publisher] = [await broker.connect(), await broker.connect()]
  const messages = await retainedFor(broker, subscriber, publisher, [[filter, qos]])
  for (const client of [subscriber, publisher]) await client.break()
  return messages
}

describe('a retained message', () => {
  test.each([1, 2])(
    '[MQTT-3.3.1-5] [MQTT-3.3.1-6] [MQTT-3.3.1-8] of QoS %i is sent to new subscribers, with RETAIN',
    async (qos) => {
      const topic = `${broker.newRoot()}/kept`
      const publisher = await broker.connect()

      await publish(publisher, { topic, payload: 'kept', qos, retain: true })

      expect(await retained(topic)).toMatchObject([{ topic, payload: 'kept', qos, retain: true }])
      expect(await retained(topic)).toMatchObject([{ topic, payload: 'kept', qos, retain: true }])
    },
  )

  test.each([0, 1, 2])(
    '[MQTT-3.8.4-6] of QoS 2 comes with the lower one of a new subscription of %i',
    async (qos) => {
      const root = broker.newRoot()
      const publisher = await broker.connect()
      await publish(publisher, { topic: `${root}/kept`, payload: 'kept', qos: 2, retain: true })

      expect(await retained(`${root}/kept`, qos)).toMatchObject([{ qos }])
      expect(await retained(`${root}/+`, qos)).toMatchObject([{ qos }])
    },
  )

  test('[MQTT-3.3.1-5] is replaced by the next one', async () => {
    const topic = `${broker.newRoot()}/kept`
    const publisher = await broker.connect()

    for (const payload of ['old', 'new']) {
      await publish(publisher, { topic, payload, qos: 1, retain: true })
    }

    expect(await retained(topic)).toMatchObject([{ payload: 'new' }])
  })

  test('[MQTT-3.3.1-6] of each matching topic is sent', async () => {
    const root = broker.newRoot()
    const publisher = await broker.connect()
    for (const name of ['a', 'b', 'a/x', 'b/x', 'b/y/x']) {
      await publish(publisher, { topic: `${root}/${name}`, payload: name, qos: 1, retain: true })
    }

    const found = async (filter: string) =>
      new Set((await retained(`${root}/${filter}`)).map(({ payload }) => payload))

    expect(await found('#')).toEqual(new Set(['a', 'b', 'a/x', 'b/x', 'b/y/x']))
    expect(await found('+')).toEqual(new Set(['a', 'b']))
    expect(await found('+/x')).toEqual(new Set(['a/x', 'b/x']))
    expect(await found('b/#')).toEqual(new Set(['b', 'b/x', 'b/y/x']))
    expect(await found('c/#')).toEqual(new Set())
  })

  test('[MQTT-3.3.1-7] of QoS 0 replaces one of QoS 1', async () => {
    const topic = `${broker.newRoot()}/kept`
    const publisher = await broker.connect()
    await publish(publisher, { topic, payload: 'old', qos: 1, retain: true })

    await publish(publisher, { topic, payload: 'new', qos: 0, retain: true })

    await drain(broker, publisher, await broker.connect())
    expect(await retained(topic)).toMatchObject([{ payload: 'new', qos: 0 }])
  })

  test.each([0, 1, 2])(
    '[MQTT-3.3.1-9] reaches a subscriber that is there with RETAIN 0, at QoS %i',
    async (qos) => {
      const topic = `${broker.newRoot()}/kept`
      const [publisher, subscriber] = [await broker.connect(), await broker.connect()]
      await subscribe(subscriber, [topic, 2])

      await publish(publisher, { topic, payload: 'kept', qos, retain: true })

      expect(await receive(subscriber, 1)).toMatchObject([{ payload: 'kept', qos, retain: false }])
    },
  )

  test('[MQTT-3.3.1-9] that was kept for an absent client comes with RETAIN 0', async () => {
    const topic = `${broker.newRoot()}/kept`
    const clientId = broker.newClientId()
    const absent = await broker.connect({ clientId, clean: false })
    await subscribe(absent, [topic, 1])
    absent.send(disconnectPacket)
    await absent.end()
    const publisher = await broker.connect()
    await publish(publisher, { topic, payload: 'meanwhile', qos: 1, retain: true })

    const again = await broker.open()
    again.send(broker.connectPacket({ clientId, clean: false }))

    expect(await again.next()).toMatchObject({ type: 'connack', sessionPresent: true })
    expect(await receive(again, 1)).toMatchObject([{ payload: 'meanwhile', retain: false }])
  })

  test.each([0, 1, 2])(
    '[MQTT-3.3.1-10] [MQTT-3.3.1-11] is removed by an empty one of QoS %i, which is delivered',
    async (qos) => {
      const topic = `${broker.newRoot()}/kept`
      const [publisher, subscriber] = [await broker.connect(), await broker.connect()]
      await publish(publisher, { topic, payload: 'kept', qos: 1, retain: true })
      await subscribe(subscriber, [topic, 2])
      await receive(subscriber, 1)

      await publish(publisher, { topic, payload: '', qos, retain: true })

      expect(await receive(subscriber, 1)).toMatchObject([
        { topic, payload: '', qos, retain: false },
      ])
      expect(await retained(topic)).toEqual([])
    },
  )

  test('[MQTT-3.3.1-11] without a payload is not kept', async () => {
    const topic = `${broker.newRoot()}/kept`

    await publish(await broker.connect(), { topic, payload: '', qos: 1, retain: true })

    expect(await retained(topic)).toEqual([])
  })

  test.each([0, 1, 2])(
    '[MQTT-3.3.1-12] is neither made, nor replaced, nor removed by one of QoS %i without RETAIN',
    async (qos) => {
      const root = broker.newRoot()
      const publisher = await broker.connect()
      await publish(publisher, { topic: `${root}/old`, payload: 'old', qos: 1, retain: true })

      await publish(publisher, { topic: `${root}/old`, payload: 'passing', qos })
      await publish(publisher, { topic: `${root}/old`, payload: '', qos })
      await publish(publisher, { topic: `${root}/new`, payload: 'passing', qos })

      await drain(broker, publisher, await broker.connect())
      expect(await retained(`${root}/#`)).toMatchObject([{ payload: 'old' }])
    },
  )

  test('[MQTT-3.1.2.7] outlasts the session of its publisher', async () => {
    const topic = `${broker.newRoot()}/kept`
    const clientId = broker.newClientId()
    const publisher = await broker.connect({ clientId, clean: true })
    await publish(publisher, { topic, payload: 'kept', qos: 1, retain: true })

    publisher.send(disconnectPacket)
    await publisher.end()
    await broker.connect({ clientId, clean: true })

    expect(await retained(topic)).toMatchObject([{ payload: 'kept' }])
  })

  test('[MQTT-3.3.1-6] is sent to a client that subscribes to its own topics', async () => {
    const topic = `${broker.newRoot()}/kept`
    const client = await broker.connect()
    await publish(client, { topic, payload: 'kept', qos: 1, retain: true })

    await subscribe(client, [topic, 1])

    expect(await receive(client, 1)).toMatchObject([{ payload: 'kept', retain: true }])
  })

  test('[MQTT-3.8.4-3] is sent again with each SUBSCRIBE, also an equal one', async () => {
    const topic = `${broker.newRoot()}/kept`
    const client = await broker.connect()
    await publish(client, { topic, payload: 'kept', qos: 2, retain: true })

    for (const qos of [1, 1, 2, 0]) {
      expect(await subscribe(client, [topic, qos])).toEqual([qos])
      expect(await receive(client, 1)).toMatchObject([{ payload: 'kept', qos, retain: true }])
    }
  })
})
