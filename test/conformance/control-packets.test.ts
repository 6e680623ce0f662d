import { describe, expect, test } from 'vitest'
import { field, packet, u16 } from '../support/mqtt-bytes.ts'
import {
  ackPacket,
  disconnectPacket,
  pingreqPacket,
  publishPacket,
  subscribePacket,
  unsubscribePacket,
} from '../support/raw-mqtt.ts'
import { receive, subscribe, testedBroker } from './tested-broker.ts'

const broker = testedBroker()

function root(): string {
  return broker.newRoot()
}

describe('the flags of the fixed header', () => {
  const wrong: Record<string, () => Buffer> = {
    'PUBACK with 1': () => packet('puback', 1, u16(1)),
    'PUBREC with 2': () => packet('pubrec', 2, u16(1)),
    'PUBCOMP with 8': () => packet('pubcomp', 8, u16(1)),
    'PINGREQ with 1': () => packet('pingreq', 1),
    'PINGREQ with 15': () => packet('pingreq', 15),
    'PUBLISH of QoS 0 with DUP': () => publishPacket({ topic: root(), dup: true }),
  }
  const reserved2: Record<string, () => Buffer> = {
    PUBREL: () => ackPacket('pubrel', 1),
    SUBSCRIBE: () => subscribePacket(1, [root(), 0]),
    UNSUBSCRIBE: () => unsubscribePacket(1, root()),
  }
  const otherThan2 = Array.from({ length: 16 }, (_, flags) => flags).filter((flags) => flags !== 2)

  test.each(Object.entries(wrong))(
    '[MQTT-2.2.2-1] [MQTT-2.2.2-2] %s close the connection',
    async (_, wrongPacket) => {
      const client = await broker.connect()

      client.send(wrongPacket())

      expect(await client.end()).toEqual([])
    },
  )

  test.each(Object.entries(reserved2))(
    '[MQTT-3.6.1-1] [MQTT-3.8.1-1] [MQTT-3.10.1-1] of %s are 0010, or the connection is closed',
    async (_, rightPacket) => {
      const clients = await Promise.all(otherThan2.map(() => broker.connect()))
      for (const [index, client] of clients.entries()) {
        const bytes = rightPacket()
        bytes[0] = ((bytes[0] ?? 0) & 0xf0) | (otherThan2[index] ?? 0)
        client.send(bytes)
      }

      const ends = await Promise.all(clients.map((client) => client.end()))

      expect(ends).toEqual(clients.map(() => []))
    },
  )

  test('[MQTT-2.2.2-2] of CONNECT that are not 0 close the connection without a CONNACK', async () => {
    const client = await broker.open()
    const bytes = broker.connectPacket()
    bytes[0] = 0x11

    client.send(bytes)

    expect(await client.end()).toEqual([])
  })

  test('[MQTT-3.14.1-1] of DISCONNECT that are not 0 close the connection as a failure', async () => {
    const watcher = await broker.connect()
    const topic = `${broker.newRoot()}/will`
    await subscribe(watcher, [topic, 0])
    const client = await broker.connect({ will: { topic, payload: 'not a farewell' } })

    client.send(packet('disconnect', 4))

    expect(await client.end()).toEqual([])
    expect(await receive(watcher, 1)).toMatchObject([{ payload: 'not a farewell' }])
  })
})

describe('what is no packet', () => {
  const malformed: Record<string, () => Buffer> = {
    'the type 0': () => packet(0, 0),
    'the type 15': () => packet(15, 0),
    'a remaining length of five bytes': () => Buffer.from([0xc0, 0x80, 0x80, 0x80, 0x80, 0x00]),
    'a CONNACK from a client': () => packet('connack', 0, Buffer.from([0, 0])),
    'a SUBACK from a client': () => packet('suback', 0, u16(1), Buffer.from([0])),
    'an UNSUBACK from a client': () => packet('unsuback', 0, u16(1)),
    'a PINGRESP from a client': () => packet('pingresp', 0),
    'a PINGREQ with a payload': () => packet('pingreq', 0, Buffer.from([1])),
    'a DISCONNECT with a payload': () => packet('disconnect', 0, Buffer.from([1])),
    'a PUBACK of one byte': () => packet('puback', 0, Buffer.from([1])),
    'a PUBACK of three bytes': () => packet('puback', 0, u16(1), Buffer.from([0])),
    'a PUBREL without a packet id': () => packet('pubrel', 2),
    'a PUBLISH without a topic': () => packet('publish', 0),
    'a PUBLISH whose topic is longer than the packet': () =>
      packet('publish', 0, u16(100), Buffer.from(root())),
    'a PUBLISH of QoS 1 without a packet id': () => packet('publish', 2, field(root())),
    'a SUBSCRIBE whose filter is longer than the packet': () =>
      packet('subscribe', 2, u16(1), u16(100), Buffer.from(root())),
    'a SUBSCRIBE without the QoS of its filter': () =>
      packet('subscribe', 2, u16(1), field(root())),
    'an UNSUBSCRIBE whose filter is cut off': () =>
      packet('unsubscribe', 2, u16(1), u16(9), Buffer.from('users')),
  }

  test.each(Object.entries(malformed))(
    '[MQTT-4.8.0-1] %s closes the connection',
    async (_, bytes) => {
      const client = await broker.connect()

      client.send(bytes())

      expect(await client.end()).toEqual([])
    },
  )

  test('[MQTT-4.8.0-1] closes this connection, and no other', async () => {
    const [other, client] = [await broker.connect(), await broker.connect()]

    client.send(packet(15, 0))
    await client.end()

    other.send(pingreqPacket)
    expect(await other.next()).toEqual({ type: 'pingresp' })
  })
})

describe('the remaining length', () => {
  test.each([0, 63, 64, 8_191, 8_192, 1_048_576])(
    '[MQTT-2.3.1-5] frames a PUBLISH with %i bytes of payload, and no packet id with QoS 0',
    async (length) => {
      const [client, topic] = [await broker.connect(), `${broker.newRoot()}/long`]
      await subscribe(client, [topic, 0])
      const payload = 'x'.repeat(length)

      client.send(publishPacket({ topic, payload }))

      const [message] = await receive(client, 1)
      // Not compared as a whole: a difference of a megabyte is not worth reading.
      expect(message?.payload.length).toBe(length)
      expect(message?.payload === payload).toBe(true)
    },
  )

  test('[MQTT-3.1.0-1] and all else may come one byte at a time', async () => {
    const client = await broker.open()
    const topic = `${broker.newRoot()}/dribbled`
    const bytes = Buffer.concat([
      broker.connectPacket(),
      subscribePacket(1, [topic, 0]),
      publishPacket({ topic, payload: 'x'.repeat(200) }),
    ])

    for (const byte of bytes) client.send(Buffer.from([byte]))

    const answers = await client.take(3)
    expect(answers.map(({ type }) => type)).toEqual(['connack', 'suback', 'publish'])
  })
})

describe('the packet id', () => {
  const withoutId: Record<string, () => Buffer> = {
    SUBSCRIBE: () => subscribePacket(0, [root(), 0]),
    UNSUBSCRIBE: () => unsubscribePacket(0, root()),
    'PUBLISH of QoS 1': () => publishPacket({ topic: root(), qos: 1, packetId: 0 }),
    'PUBLISH of QoS 2': () => publishPacket({ topic: root(), qos: 2, packetId: 0 }),
  }

  test.each(Object.entries(withoutId))(
    '[MQTT-2.3.1-1] 0 of %s closes the connection',
    async (_, bytes) => {
      const client = await broker.connect()

      client.send(bytes())

      expect(await client.end()).toEqual([])
    },
  )

  test.each([1, 256, 65_535])(
    '[MQTT-2.3.1-6] [MQTT-2.3.1-7] %i comes back with every acknowledgement',
    async (packetId) => {
      const client = await broker.connect()
      const topic = root()

      client.send(
        subscribePacket(packetId, [`${topic}/else`, 0]),
        publishPacket({ topic, qos: 1, packetId }),
      )
      const first = await client.take(2)
      client.send(publishPacket({ topic, qos: 2, packetId }))
      const second = await client.next()
      client.send(ackPacket('pubrel', packetId), unsubscribePacket(packetId, `${topic}/else`))
      const third = await client.take(2)

      expect(new Set([...first, second, ...third])).toEqual(
        new Set([
          { type: 'suback', packetId, codes: [0] },
          { type: 'puback', packetId },
          { type: 'pubrec', packetId },
          { type: 'pubcomp', packetId },
          { type: 'unsuback', packetId },
        ]),
      )
    },
  )
})

test('[MQTT-3.1.0-1] what comes before a CONNECT closes the connection without an answer', async () => {
  const topic = broker.newRoot()
  const packets = [
    publishPacket({ topic }),
    publishPacket({ topic, qos: 1 }),
    subscribePacket(1, [topic, 0]),
    unsubscribePacket(1, topic),
    pingreqPacket,
    disconnectPacket,
    ackPacket('pubrel', 1),
  ]
  const clients = await Promise.all(packets.map(() => broker.open()))

  for (const [index, client] of clients.entries()) client.send(packets[index] ?? pingreqPacket)

  const ends = await Promise.all(clients.map((client) => client.end()))
  expect(ends).toEqual(clients.map(() => []))
})

test('[MQTT-3.1.0-2] a second CONNECT closes the connection', async () => {
  const client = await broker.connect()

  client.send(broker.connectPacket())

  expect(await client.end()).toEqual([])
})

test('[MQTT-3.1.0-2] a second CONNECT in the same write closes the connection', async () => {
  const client = await broker.open()
  const connect = broker.connectPacket()

  client.send(connect, connect)

  const answers = await client.end()
  expect(answers.filter(({ type }) => type !== 'connack')).toEqual([])
})
