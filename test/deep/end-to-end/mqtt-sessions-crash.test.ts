import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { killedBroker, publishOf, rawSession } from '../../support/killed-broker.ts'
import { packetTypes } from '../../support/mqtt-bytes.ts'
import { mqttClients } from '../../support/mqtt-clients.ts'
import {
  answerPacket,
  type MqttPacket,
  packetIdOf,
  publishPacket,
  pubrelPacket,
  RawMqttConnection,
  subscribePacket,
} from '../../support/mqtt-packets.ts'
import { newPerson, personOf, streamOf } from '../../support/people.ts'

const broker = killedBroker()
const connect = mqttClients(() => broker.mqttPort)

const device = { clientId: 'device', clean: false }

function numbered(qos: number, count: number): string[] {
  return Array.from({ length: count }, (_, number) => `${qos}-${number}`)
}

describe('at the moment of a kill', () => {
  test.each([
    [1, 2_000, packetTypes.puback],
    [2, 90, packetTypes.pubrec],
  ] as const)(
    'a message with QoS %i is on disk when it is acknowledged',
    async (qos, count, ack) => {
      const ada = await newPerson(broker.api)
      const topic = `users/${ada.userId}/commands`
      const listener = await connect(ada.key, device)
      await listener.subscribe(topic, 2)
      listener.mqtt.end(true)
      const { connection } = await rawSession(broker, ada, { clientId: 'sender' })
      const ids = Array.from({ length: count }, (_, index) => index + 1)
      const publishes = ids.map((packetId) =>
        publishPacket({ topic, payload: `${packetId}`, packetId, qos }),
      )
      connection.send(...publishes)
      const first = await connection.next(Math.ceil(count / 10))

      await broker.restart()

      const acknowledged = [...first, ...(await rest(connection))].filter(
        ({ type }) => type === ack,
      )
      // With the same QoS: a client hands on what comes with QoS 2 when it is released, and so later.
      const back = await connect(ada.key, device)
      await (await connect(ada.key)).mqtt.publishAsync(topic, 'last', { qos })
      await expect.poll(() => back.messages.at(-1)?.payload).toBe('last')
      const got = new Set(back.messages.map(({ payload }) => payload))
      const inOrder = [...got].slice(0, -1).map(Number)
      expect(inOrder).toEqual(ids.slice(0, inOrder.length))
      expect(inOrder.length).toBeGreaterThanOrEqual(acknowledged.length)
      if (qos === 2) expect(back.messages.length).toBe(got.size)
    },
  )
})

/** What had arrived when the connection ended. */
async function rest(connection: RawMqttConnection): Promise<MqttPacket[]> {
  await connection.closed
  const packets: MqttPacket[] = []
  for (;;) {
    const [packet] = await connection.next().catch(() => [])
    if (packet === undefined) return packets
    packets.push(packet)
  }
}

describe('after a kill', () => {
  test('a client finds its session, its subscriptions and all that waited for it', async () => {
    const ada = await newPerson(broker.api)
    const topic = `users/${ada.userId}/commands/boiler`
    const before = await connect(ada.key, device)
    await before.subscribe(`users/${ada.userId}/commands/+`, 2)
    before.mqtt.end(true)
    const sender = await connect(ada.key)
    const texts = { 1: numbered(1, 50), 2: numbered(2, 50) } as const
    await Promise.all(
      ([1, 2] as const).flatMap((qos) =>
        texts[qos].map((text) => sender.mqtt.publishAsync(topic, text, { qos })),
      ),
    )

    await broker.restart()

    const after = await connect(ada.key, device)
    await expect.poll(() => after.messages.length).toBeGreaterThanOrEqual(100)
    for (const qos of [1, 2] as const) {
      const got = after.messages.filter((message) => message.qos === qos)
      expect(got.map(({ payload }) => payload)).toEqual(texts[qos])
    }
    await (await connect(ada.key)).mqtt.publishAsync(topic, 'last', { qos: 1 })
    await expect.poll(() => after.messages.at(-1)?.payload).toBe('last')
  })

  test('what a subscriber has not acknowledged comes again under its packet id', async () => {
    const ada = await newPerson(broker.api)
    const topic = `users/${ada.userId}/commands`
    const before = await rawSession(broker, ada, { clientId: 'device' })
    before.connection.send(subscribePacket(1, topic, 2))
    await before.connection.next()
    const sender = await connect(ada.key)
    for (const qos of [1, 2] as const) await sender.mqtt.publishAsync(topic, `open ${qos}`, { qos })
    const sent = (await before.connection.next(2)).map(publishOf)
    expect(sent).toMatchObject([{ isDup: false }, { isDup: false }])

    await broker.restart()

    const after = await rawSession(broker, ada, { clientId: 'device' })
    const again = (await after.connection.next(2)).map(publishOf)
    expect(again).toEqual(sent.map((publish) => ({ ...publish, isDup: true })))
  })

  test('what a subscriber has received with QoS 2 is released, and does not come again', async () => {
    const ada = await newPerson(broker.api)
    const topic = `users/${ada.userId}/commands`
    const before = await rawSession(broker, ada, { clientId: 'device' })
    before.connection.send(subscribePacket(1, topic, 2))
    await before.connection.next()
    await (await connect(ada.key)).mqtt.publishAsync(topic, 'open', { qos: 2 })
    const [publish] = (await before.connection.next()).map(publishOf)
    const packetId = publish?.packetId ?? 0
    before.connection.send(answerPacket('pubrec', packetId))
    expect(await before.connection.next()).toMatchObject([{ type: packetTypes.pubrel }])

    await broker.restart()

    const after = await rawSession(broker, ada, { clientId: 'device' })
    const [pubrel] = await after.connection.next()
    expect(pubrel).toMatchObject({ type: packetTypes.pubrel, flags: 2 })
    expect(pubrel && packetIdOf(pubrel)).toBe(packetId)
    after.connection.send(answerPacket('pubcomp', packetId))
    await (await connect(ada.key)).mqtt.publishAsync(topic, 'close', { qos: 2 })
    expect((await after.connection.next()).map(publishOf)).toMatchObject([{ payload: 'close' }])
  })

  test('a message with QoS 2 that is sent again is passed on once', async () => {
    const ada = await newPerson(broker.api)
    const topic = `users/${ada.userId}/commands`
    const listener = await connect(ada.key, { clientId: 'listener', clean: false })
    await listener.subscribe(topic, 2)
    listener.mqtt.end(true)
    const message = { topic, payload: 'open', packetId: 7, qos: 2 } as const
    const before = await rawSession(broker, ada, { clientId: 'sender' })
    expect(before.isSessionPresent).toBe(false)
    before.connection.send(publishPacket(message))
    expect(await before.connection.next()).toMatchObject([{ type: packetTypes.pubrec }])
    before.connection.destroy()
    const between = await rawSession(broker, ada, { clientId: 'sender' })
    between.connection.send(publishPacket({ ...message, isDup: true }))
    expect(await between.connection.next()).toMatchObject([{ type: packetTypes.pubrec }])

    await broker.restart()

    const after = await rawSession(broker, ada, { clientId: 'sender' })
    expect(after.isSessionPresent).toBe(true)
    after.connection.send(publishPacket({ ...message, isDup: true }))
    expect(await after.connection.next()).toMatchObject([{ type: packetTypes.pubrec }])
    after.connection.send(pubrelPacket(7))
    expect(await after.connection.next()).toMatchObject([{ type: packetTypes.pubcomp }])
    // Released, the packet id stands for another message.
    after.connection.send(publishPacket({ ...message, payload: 'close' }))
    await after.connection.next()
    const back = await connect(ada.key, { clientId: 'listener', clean: false })
    await expect.poll(() => back.messages.at(-1)?.payload).toBe('close')
    expect(back.messages.map(({ payload }) => payload)).toEqual(['open', 'close'])
  })

  test('a reading with QoS 2 and no time of its own is stored once', async () => {
    const ada = await newPerson(broker.api)
    const topic = `streams/${await streamOf(ada)}/data`
    const reading = { topic, payload: '{"temperature":1}', packetId: 9, qos: 2 } as const
    const before = await rawSession(broker, ada, { clientId: 'sensor' })
    before.connection.send(publishPacket(reading))
    await before.connection.next()

    await broker.restart()

    const after = await rawSession(broker, ada, { clientId: 'sensor' })
    after.connection.send(publishPacket({ ...reading, isDup: true }))
    expect(await after.connection.next()).toMatchObject([{ type: packetTypes.pubrec }])
    after.connection.send(pubrelPacket(9))
    await after.connection.next()
    after.connection.send(publishPacket({ ...reading, payload: '{"temperature":2}' }))
    await after.connection.next()
    const path = `/streams/${topic.split('/')[1]}/data`
    const reader = personOf(broker.api, ada.key)
    const stored = async () => {
      const { body } = await reader.withToken<{ data: { temperature: number }[] }>('GET', path)
      return body.data.map(({ temperature }) => temperature)
    }
    await expect.poll(stored).toEqual([1, 2])
  })

  test('retained messages are there, and those that were taken away are not', async () => {
    const ada = await newPerson(broker.api)
    const settings = `users/${ada.userId}/settings`
    const sender = await connect(ada.key)
    for (const [name, text] of Object.entries({ a: 'one', b: 'two', c: 'three' })) {
      await sender.mqtt.publishAsync(`${settings}/${name}`, text, { qos: 1, retain: true })
    }
    await sender.mqtt.publishAsync(`${settings}/b`, '', { qos: 1, retain: true })
    await sender.mqtt.publishAsync(`${settings}/c`, 'four', { qos: 0, retain: true })
    await sender.mqtt.publishAsync(`${settings}/d`, 'five', { qos: 2, retain: true })

    await broker.restart()

    const client = await connect(ada.key)
    await client.subscribe(`${settings}/+`, 1)
    await expect
      .poll(() => Object.fromEntries(client.messages.map(({ topic, payload }) => [topic, payload])))
      .toEqual({ [`${settings}/a`]: 'one', [`${settings}/c`]: 'four', [`${settings}/d`]: 'five' })
    expect(client.messages.every(({ retain }) => retain)).toBe(true)
  })

  test.each(['SIGKILL', 'SIGTERM'] as const)(
    'by %s the will of a client that was connected is published, once',
    async (signal) => {
      const ada = await newPerson(broker.api)
      const topic = `users/${ada.userId}/states`
      const listener = await connect(ada.key, { clientId: 'listener', clean: false })
      await listener.subscribe(topic)
      listener.mqtt.end(true)
      await rawSession(broker, ada, { clientId: 'mortal', will: { topic, payload: 'gone' } })
      const leaving = { topic, payload: Buffer.from('left'), qos: 1 as const, retain: false }
      await (await connect(ada.key, { will: leaving })).mqtt.endAsync()
      // What is kept later is on disk later: then its will is gone for certain.
      await (await connect(ada.key)).mqtt.publishAsync(`${topic}/kept`, '1', {
        qos: 1,
        retain: true,
      })

      await broker.restart(signal)
      await broker.restart()

      const back = await connect(ada.key, { clientId: 'listener', clean: false })
      await (await connect(ada.key)).mqtt.publishAsync(topic, 'here', { qos: 1 })
      await expect.poll(() => back.messages.at(-1)?.payload).toBe('here')
      expect(back.messages.map(({ payload }) => payload)).toEqual(['gone', 'here'])
    },
  )

  test('a session that ended with a clean one, or with its user, is not there', async () => {
    const [ada, bob] = [await newPerson(broker.api), await newPerson(broker.api)]
    const kept = async () => [
      await broker.metric('sessions'),
      await broker.metric('subscriptions'),
      await broker.metric('retained_messages'),
    ]
    const [sessions = 0, subscriptions = 0, retained = 0] = await kept()
    for (const person of [ada, bob]) {
      const client = await connect(person.key, device)
      await client.subscribe(`users/${person.userId}/commands`)
      await client.mqtt.publishAsync(`users/${person.userId}/kept`, 'x', { qos: 1, retain: true })
      client.mqtt.end(true)
    }
    expect(await kept()).toEqual([sessions + 2, subscriptions + 2, retained + 2])
    await (await connect(ada.key, { clientId: 'device', clean: true })).mqtt.endAsync()
    await broker.api.withKey('DELETE', `/users/${bob.userId}`)

    await broker.restart()

    expect(await kept()).toEqual([sessions, subscriptions, retained + 1])
    const after = await rawSession(broker, ada, { clientId: 'device' })
    expect(after.isSessionPresent).toBe(false)
  })

  test('nothing is kept for a user who was deleted while no service ran', async () => {
    const ada = await newPerson(broker.api)
    const [sessions, retained] = [
      await broker.metric('sessions'),
      await broker.metric('retained_messages'),
    ]
    const client = await connect(ada.key, device)
    await client.subscribe(`users/${ada.userId}/commands`)
    await client.mqtt.publishAsync(`users/${ada.userId}/kept`, 'x', { qos: 1, retain: true })

    await broker.restart('SIGTERM', (dataDir) => {
      using state = new DatabaseSync(join(dataDir, 'state.db'))
      state.prepare('UPDATE users SET deleted_at = 1 WHERE id = ?').run(ada.userId)
    })

    expect(await broker.metric('sessions')).toBe(sessions)
    expect(await broker.metric('retained_messages')).toBe(retained)
  })
})
