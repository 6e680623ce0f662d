import { describe, expect, test } from 'vitest'
import { ackPacket, publishPacket, type RawMqtt, subscribePacket } from '../support/raw-mqtt.ts'
import type { Delivered } from '../support/raw-mqtt-reader.ts'
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

/** A client with a session that has got messages, and acknowledged none. */
async function withUnacknowledged(
  clientId: string,
  qos: 1 | 2,
  count: number,
): Promise<{ messages: Delivered[]; publisher: RawMqtt; client: RawMqtt }> {
  const topic = broker.newRoot()
  const { client } = await broker.resume(clientId)
  await subscribe(client, [topic, qos])
  const publisher = await broker.connect()
  for (let index = 0; index < count; index++) {
    await publish(publisher, { topic, payload: `${index}`, qos })
  }
  const messages = (await client.take(count)) as Delivered[]
  return { messages, publisher, client }
}

describe('after a reconnect', () => {
  test.each([1, 2] as const)(
    '[MQTT-4.4.0-1] [MQTT-4.6.0-1] [MQTT-2.3.1-4] [MQTT-3.3.1-1] messages of QoS %i that were not acknowledged come again, in their order, with their packet ids and DUP',
    async (qos) => {
      const clientId = broker.newClientId()
      const { messages, client } = await withUnacknowledged(clientId, qos, 10)
      await client.break()

      const { client: again } = await broker.resume(clientId)

      const repeated = await receive(again, 10)
      expect(repeated).toEqual(messages.map((message) => ({ ...message, dup: true })))
      expect(messages.every(({ dup }) => !dup)).toBe(true)
    },
  )

  test('[MQTT-4.4.0-1] messages of QoS 1 that were acknowledged do not come again', async () => {
    const clientId = broker.newClientId()
    const { messages, client, publisher } = await withUnacknowledged(clientId, 1, 6)
    for (const { packetId } of messages.slice(0, 3)) client.send(ackPacket('puback', packetId))
    await leave(client)

    const { client: again } = await broker.resume(clientId)

    const repeated = await drain(broker, again, publisher)
    expect(payloads(repeated)).toEqual(['3', '4', '5'])
  })

  test('[MQTT-4.4.0-1] [MQTT-4.3.3-1] a PUBREL comes again instead of its PUBLISH', async () => {
    const clientId = broker.newClientId()
    const { messages, client, publisher } = await withUnacknowledged(clientId, 2, 4)
    const [first, second] = messages.map(({ packetId }) => packetId) as [number, number]
    client.send(ackPacket('pubrec', first), ackPacket('pubrec', second))
    expect(await client.take(2)).toEqual([
      { type: 'pubrel', packetId: first },
      { type: 'pubrel', packetId: second },
    ])
    client.send(ackPacket('pubcomp', first))
    await leave(client)

    const { client: again } = await broker.resume(clientId)

    expect(await again.take(3)).toEqual([
      { type: 'pubrel', packetId: second },
      { ...messages[2], dup: true },
      { ...messages[3], dup: true },
    ])
    again.send(ackPacket('pubcomp', second))
    for (const { packetId } of messages.slice(2)) again.send(ackPacket('pubrec', packetId))
    await again.take(2)
    for (const { packetId } of messages.slice(2)) again.send(ackPacket('pubcomp', packetId))
    await leave(again)
    const { client: last } = await broker.resume(clientId)
    expect(await drain(broker, last, publisher)).toEqual([])
  })

  test('[MQTT-3.3.1-1] messages that were never sent come without DUP, behind those that were', async () => {
    const clientId = broker.newClientId()
    const { messages, client, publisher } = await withUnacknowledged(clientId, 1, 2)
    await client.break()
    const topic = messages[0]?.topic ?? ''
    await publish(publisher, { topic, payload: 'new', qos: 1 })

    const { client: again } = await broker.resume(clientId)

    expect(await receive(again, 3)).toMatchObject([
      { payload: '0', dup: true },
      { payload: '1', dup: true },
      { payload: 'new', dup: false },
    ])
  })

  test('[MQTT-2.3.1-4] new messages get no packet id that is in use', async () => {
    const clientId = broker.newClientId()
    const { messages, client, publisher } = await withUnacknowledged(clientId, 1, 20)
    await client.break()
    const { client: again } = await broker.resume(clientId)
    await again.take(20)
    const topic = messages[0]?.topic ?? ''
    for (let index = 0; index < 20; index++) await publish(publisher, { topic, qos: 1 })

    const fresh = (await again.take(20)) as Delivered[]

    const ids = [...messages, ...fresh].map(({ packetId }) => packetId)
    expect(new Set(ids).size).toBe(40)
  })

  test('[MQTT-4.3.3-2] a message of QoS 2 that is sent again is published once', async () => {
    const clientId = broker.newClientId()
    const topic = broker.newRoot()
    const watcher = await broker.connect()
    await subscribe(watcher, [topic, 2])
    const message = { topic, payload: 'once', qos: 2, packetId: 77 }
    const { client } = await broker.resume(clientId)
    client.send(publishPacket(message))
    expect(await client.next()).toEqual({ type: 'pubrec', packetId: 77 })
    await client.break()

    const { client: again, sessionPresent } = await broker.resume(clientId)
    again.send(publishPacket({ ...message, dup: true }))

    expect(sessionPresent).toBe(true)
    expect(await again.next()).toEqual({ type: 'pubrec', packetId: 77 })
    again.send(ackPacket('pubrel', 77))
    expect(await again.next()).toEqual({ type: 'pubcomp', packetId: 77 })
    expect(payloads(await drain(broker, watcher, again))).toEqual(['once'])
  })

  test('[MQTT-3.2.0-1] CONNACK comes before what was kept', async () => {
    const clientId = broker.newClientId()
    const { client } = await withUnacknowledged(clientId, 1, 3)
    await client.break()
    const again = await broker.open()

    again.send(
      broker.connectPacket({ clientId, clean: false }),
      subscribePacket(1, [broker.newRoot(), 0]),
    )

    const [first] = await again.take(5)
    expect(first).toEqual({ type: 'connack', sessionPresent: true, returnCode: 0 })
  })
})
