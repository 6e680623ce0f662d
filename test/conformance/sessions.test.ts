import { describe, expect, test } from 'vitest'
import { newPerson } from '../support/people.ts'
import {
  drain,
  leave,
  payloads,
  publish,
  receive,
  subscribe,
  testedBroker,
} from './tested-broker.ts'

const broker = testedBroker()

describe('session present', () => {
  test('[MQTT-3.2.2-3] is 0 for a client id that was never here', async () => {
    const { sessionPresent } = await broker.resume(broker.newClientId())

    expect(sessionPresent).toBe(false)
  })

  test.each(['DISCONNECT', 'a broken connection'])(
    '[MQTT-3.2.2-2] [MQTT-3.1.2-4] is 1 after %s of a client with a subscription',
    async (how) => {
      const clientId = broker.newClientId()
      const { client } = await broker.resume(clientId)
      await subscribe(client, [broker.newRoot(), 1])
      if (how === 'DISCONNECT') await leave(client)
      else await client.break()

      const { sessionPresent } = await broker.resume(clientId)

      expect(sessionPresent).toBe(true)
    },
  )

  test('[MQTT-3.2.2-2] [MQTT-3.1.2-4] is 1 for a client that never subscribed', async () => {
    const clientId = broker.newClientId()
    await leave((await broker.resume(clientId)).client)

    const { sessionPresent } = await broker.resume(clientId)

    expect(sessionPresent).toBe(true)
  })

  test('[MQTT-3.2.2-2] is 1 for who takes the place of a connected client', async () => {
    const clientId = broker.newClientId()
    const { client } = await broker.resume(clientId)
    await subscribe(client, [broker.newRoot(), 1])

    const { sessionPresent } = await broker.resume(clientId)

    expect(sessionPresent).toBe(true)
  })

  test('[MQTT-3.2.2-1] [MQTT-3.1.2-6] is 0 with a clean session, which ends the one before', async () => {
    const clientId = broker.newClientId()
    const topic = broker.newRoot()
    const { client } = await broker.resume(clientId)
    await subscribe(client, [topic, 1])
    await leave(client)
    const publisher = await broker.connect()
    await publish(publisher, { topic, payload: 'queued', qos: 1 })

    const clean = await broker.open()
    clean.send(broker.connectPacket({ clientId, clean: true }))

    expect(await clean.next()).toMatchObject({ type: 'connack', sessionPresent: false })
    await publish(publisher, { topic, payload: 'not subscribed', qos: 1 })
    expect(await drain(broker, clean, publisher)).toEqual([])
    await leave(clean)
    const { client: later, sessionPresent } = await broker.resume(clientId)
    expect(sessionPresent).toBe(false)
    expect(await drain(broker, later, publisher)).toEqual([])
  })

  test('[MQTT-3.1.2-6] is 0 after a clean session, of which nothing is left', async () => {
    const clientId = broker.newClientId()
    const topic = broker.newRoot()
    const first = await broker.connect({ clientId, clean: true })
    await subscribe(first, [topic, 2])
    await leave(first)
    const publisher = await broker.connect()
    await publish(publisher, { topic, payload: 'for nobody', qos: 2 })

    const { client, sessionPresent } = await broker.resume(clientId)

    expect(sessionPresent).toBe(false)
    expect(await drain(broker, client, publisher)).toEqual([])
  })
})

describe('a session', () => {
  test('[MQTT-3.1.4-3] [MQTT-3.1.2-4] keeps its subscriptions', async () => {
    const clientId = broker.newClientId()
    const root = broker.newRoot()
    const { client } = await broker.resume(clientId)
    await subscribe(client, [`${root}/0`, 0], [`${root}/+/1`, 1], [`${root}/2/#`, 2])
    await leave(client)

    const { client: again } = await broker.resume(clientId)

    const publisher = await broker.connect()
    for (const topic of ['0', 'x/1', '2/y']) {
      await publish(publisher, { topic: `${root}/${topic}`, payload: topic, qos: 2 })
    }
    const delivered = await drain(broker, again, publisher)
    expect(new Map(delivered.map(({ payload, qos }) => [payload, qos]))).toEqual(
      new Map([
        ['0', 0],
        ['x/1', 1],
        ['2/y', 2],
      ]),
    )
  })

  test('[MQTT-3.1.2-5] [MQTT-4.5.0-1] [MQTT-4.1.0-1] keeps messages of QoS 1 and 2 for its client', async () => {
    const clientId = broker.newClientId()
    const root = broker.newRoot()
    const { client } = await broker.resume(clientId)
    await subscribe(client, [`${root}/#`, 2])
    await leave(client)
    const publisher = await broker.connect()

    for (let index = 0; index < 20; index++) {
      const qos = index % 3
      await publish(publisher, { topic: `${root}/${qos}`, payload: `${index}`, qos })
    }

    const { client: again } = await broker.resume(clientId)
    const delivered = await drain(broker, again, publisher)
    for (const qos of [1, 2]) {
      const expected = Array.from({ length: 20 }, (_, index) => index).filter((i) => i % 3 === qos)
      const ofQos = delivered.filter(({ topic }) => topic === `${root}/${qos}`)
      expect(payloads(ofQos)).toEqual(expected.map(String))
      expect(new Set(ofQos.map((message) => message.qos))).toEqual(new Set([qos]))
    }
  })

  test('[MQTT-3.1.2-5] keeps nothing for a subscription that has ended', async () => {
    const clientId = broker.newClientId()
    const topic = broker.newRoot()
    const first = await broker.connect({ clientId, clean: true })
    await subscribe(first, [topic, 1])
    await leave(first)
    await leave((await broker.resume(clientId)).client)
    const publisher = await broker.connect()
    await publish(publisher, { topic, payload: 'lost', qos: 1 })

    const { client } = await broker.resume(clientId)

    expect(await drain(broker, client, publisher)).toEqual([])
  })

  test('[MQTT-4.1.0-2] lasts as long as its connection', async () => {
    const clientId = broker.newClientId()
    const topic = broker.newRoot()
    const client = await broker.connect({ clientId, clean: true })
    await subscribe(client, [topic, 1])
    const publisher = await broker.connect()

    for (let index = 0; index < 50; index++) {
      await publish(publisher, { topic, payload: `${index}`, qos: 1 })
      expect(await receive(client, 1)).toMatchObject([{ payload: `${index}` }])
    }
  })

  test('[MQTT-3.1.2-4] that is resumed sends no retained messages by itself', async () => {
    const clientId = broker.newClientId()
    const topic = broker.newRoot()
    const publisher = await broker.connect()
    await publish(publisher, { topic, payload: 'kept', qos: 1, retain: true })
    const { client } = await broker.resume(clientId)
    await subscribe(client, [topic, 1])
    expect(await drain(broker, client, publisher)).toMatchObject([{ retain: true }])
    await leave(client)

    const { client: again } = await broker.resume(clientId)

    expect(await drain(broker, again, publisher)).toEqual([])
  })

  test('[MQTT-3.8.4-5] keeps nothing for a filter that was refused', async () => {
    const stranger = await newPerson(broker.service.api)
    const { apiKey, apiSecret } = stranger.key
    const who = { clientId: broker.newClientId(), username: apiKey, password: apiSecret }
    const topic = broker.newRoot()
    const first = await broker.connect({ ...who, clean: false })
    const own = `users/${stranger.userId}/own`
    expect(await subscribe(first, [topic, 1], [own, 1])).toEqual([0x80, 1])
    await leave(first)
    await publish(await broker.connect(), { topic, payload: 'private', qos: 1 })
    const publisher = await broker.connect({ ...who, clientId: broker.newClientId() })
    await publish(publisher, { topic: own, payload: 'own', qos: 1 })

    const again = await broker.connect({ ...who, clean: false })

    expect(await receive(again, 1)).toMatchObject([{ topic: own, payload: 'own' }])
    const last = `${own}/last`
    await subscribe(again, [last, 1])
    await publish(publisher, { topic: last, payload: 'last', qos: 1 })
    expect(await receive(again, 1)).toMatchObject([{ topic: last }])
  })
})
