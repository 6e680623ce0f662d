import { describe, expect, test } from 'vitest'
import { packet } from '../support/mqtt-bytes.ts'
import { ackPacket, pingreqPacket, publishPacket } from '../support/raw-mqtt.ts'
import { drain, pair, publish, receive, testedBroker } from './tested-broker.ts'

const broker = testedBroker()

describe('PUBLISH', () => {
  test.each([0, 1, 2])(
    '[MQTT-3.3.1-2] [MQTT-3.3.1-3] [MQTT-4.3.1-1] of QoS %i is delivered with DUP 0, however it came',
    async (qos) => {
      const { publisher, subscriber, topic } = await pair(broker, 2)

      publisher.send(publishPacket({ topic, payload: 'x', qos, packetId: 9, dup: qos > 0 }))
      // A server may wait for it, before it passes a message of QoS 2 on (figure 4.3).
      if (qos === 2) publisher.send(ackPacket('pubrel', 9))

      expect(await receive(subscriber, 1)).toMatchObject([{ topic, payload: 'x', qos, dup: false }])
    },
  )

  test('[MQTT-3.3.1-4] with both QoS bits closes the connection, and is not delivered', async () => {
    const { publisher, subscriber, topic } = await pair(broker, 2)

    publisher.send(publishPacket({ topic, payload: 'x', qos: 3 }))

    expect(await publisher.end()).toEqual([])
    expect(await drain(broker, subscriber, await broker.connect())).toEqual([])
  })

  test.each(['+', '#', 'a/+/b', 'a/#', 'a+', 'a#b'])(
    '[MQTT-3.3.2-2] [MQTT-4.7.1-1] with the wildcard in %s closes the connection',
    async (name) => {
      for (const qos of [0, 1, 2]) {
        const publisher = await broker.connect()

        publisher.send(publishPacket({ topic: `${broker.newRoot()}/${name}`, qos }))

        expect(await publisher.end()).toEqual([])
      }
    },
  )

  test('[MQTT-4.7.3-1] with an empty topic closes the connection', async () => {
    const publisher = await broker.connect()

    publisher.send(publishPacket({ topic: '' }))

    expect(await publisher.end()).toEqual([])
  })

  test('[MQTT-3.3.2-1] has its topic first: without any it closes the connection', async () => {
    const publisher = await broker.connect()

    publisher.send(packet('publish', 0, Buffer.from([1])))

    expect(await publisher.end()).toEqual([])
  })

  test('[MQTT-3.3.4-1] is answered with nothing, PUBACK, or PUBREC, as its QoS wants it', async () => {
    const publisher = await broker.connect()
    const topic = broker.newRoot()

    publisher.send(
      publishPacket({ topic, qos: 0 }),
      publishPacket({ topic, qos: 1, packetId: 1 }),
      publishPacket({ topic, qos: 2, packetId: 2 }),
    )

    expect(await publisher.take(2)).toEqual([
      { type: 'puback', packetId: 1 },
      { type: 'pubrec', packetId: 2 },
    ])
    publisher.send(pingreqPacket)
    expect(await publisher.next()).toEqual({ type: 'pingresp' })
  })

  test.each([
    ['a topic of nobody', 'somewhere/else'],
    ['the space of another user', 'users/00000000-0000-4000-8000-000000000000/x'],
    ['a stream that there is not', 'streams/00000000-0000-4000-8000-000000000000/data'],
    ['a topic of the server', '$SYS/broker/version'],
  ])('[MQTT-3.3.5-2] to %s, which is not allowed, is acknowledged', async (_, topic) => {
    const publisher = await broker.connect()

    await publish(publisher, { topic, payload: '{}', qos: 1 })
    await publish(publisher, { topic, payload: '{}', qos: 2 })
    await publish(publisher, { topic, payload: '{}', qos: 1, retain: true })

    publisher.send(pingreqPacket)
    expect(await publisher.next()).toEqual({ type: 'pingresp' })
  })

  test('[MQTT-3.3.4-1] reaches a subscriber with any bytes as its payload', async () => {
    const { publisher, subscriber, topic } = await pair(broker, 0)
    const bytes = Buffer.from([0, 1, 127, 128, 0xc0, 0xaf, 255])

    publisher.send(publishPacket({ topic, payload: bytes }))

    // Read as text like all payloads here: what is no UTF-8 becomes U+FFFD, byte by byte.
    expect(await receive(subscriber, 1)).toMatchObject([{ payload: bytes.toString() }])
  })
})
