import { describe, expect, test } from 'vitest'
import { field, packet, u16 } from '../support/mqtt-bytes.ts'
import { disconnectPacket, unsubscribePacket } from '../support/raw-mqtt.ts'
import { drain, payloads, publish, subscribe, testedBroker } from './tested-broker.ts'

const broker = testedBroker()

describe('UNSUBSCRIBE', () => {
  test('[MQTT-3.10.4-4] [MQTT-3.10.4-2] ends a subscription, and is answered with UNSUBACK', async () => {
    const [client, publisher] = [await broker.connect(), await broker.connect()]
    const topic = broker.newRoot()
    await subscribe(client, [topic, 1])
    await publish(publisher, { topic, payload: 'before', qos: 1 })
    expect(payloads(await drain(broker, client, publisher))).toEqual(['before'])

    client.send(unsubscribePacket(600, topic))

    expect(await client.next()).toEqual({ type: 'unsuback', packetId: 600 })
    await publish(publisher, { topic, payload: 'after', qos: 1 })
    expect(await drain(broker, client, publisher)).toEqual([])
  })

  test('[MQTT-3.10.4-5] is answered when there is nothing to end', async () => {
    const client = await broker.connect()

    client.send(unsubscribePacket(601, broker.newRoot(), 'somewhere/else/#'))

    expect(await client.next()).toEqual({ type: 'unsuback', packetId: 601 })
  })

  test('[MQTT-3.10.4-6] with several filters ends them all, with one UNSUBACK', async () => {
    const [client, publisher] = [await broker.connect(), await broker.connect()]
    const top = broker.newRoot()
    await subscribe(client, [`${top}/a`, 1], [`${top}/b`, 1], [`${top}/c`, 1])

    client.send(unsubscribePacket(602, `${top}/a`, `${top}/none`, `${top}/c`))

    expect(await client.next()).toEqual({ type: 'unsuback', packetId: 602 })
    for (const name of ['a', 'b', 'c']) {
      await publish(publisher, { topic: `${top}/${name}`, payload: name, qos: 1 })
    }
    expect(payloads(await drain(broker, client, publisher))).toEqual(['b'])
  })

  test('[MQTT-3.10.4-1] compares filters character by character, wildcards included', async () => {
    const [client, publisher] = [await broker.connect(), await broker.connect()]
    const top = broker.newRoot()
    await subscribe(client, [`${top}/a/x`, 1], [`${top}/+/y`, 1])

    client.send(unsubscribePacket(603, `${top}/+/x`, `${top}/#`, `${top}/a/y`, `${top}/A/x`))

    expect(await client.next()).toEqual({ type: 'unsuback', packetId: 603 })
    for (const name of ['a/x', 'a/y']) {
      await publish(publisher, { topic: `${top}/${name}`, payload: name, qos: 1 })
    }
    expect(payloads(await drain(broker, client, publisher))).toEqual(['a/x', 'a/y'])
  })

  test('[MQTT-3.10.4-2] holds for a session that comes back', async () => {
    const clientId = broker.newClientId()
    const top = broker.newRoot()
    const first = await broker.connect({ clientId, clean: false })
    await subscribe(first, [`${top}/a`, 1], [`${top}/b`, 1])
    first.send(unsubscribePacket(604, `${top}/a`))
    await first.next()
    first.send(disconnectPacket)
    await first.end()
    const publisher = await broker.connect()
    for (const name of ['a', 'b']) {
      await publish(publisher, { topic: `${top}/${name}`, payload: name, qos: 1 })
    }

    const again = await broker.open()
    again.send(broker.connectPacket({ clientId, clean: false }))

    expect(await again.next()).toMatchObject({ type: 'connack', sessionPresent: true })
    expect(payloads(await drain(broker, again, publisher))).toEqual(['b'])
  })

  const wrong: Record<string, () => Buffer> = {
    '[MQTT-3.10.3-2] without a filter': () => packet('unsubscribe', 2, u16(1)),
    '[MQTT-3.10.3-1] with a filter that is no UTF-8': () =>
      unsubscribePacket(1, Buffer.from([0x61, 0xff])),
    '[MQTT-4.7.3-1] with an empty filter': () => unsubscribePacket(1, ''),
    '[MQTT-3.10.3-1] with half a filter': () =>
      packet('unsubscribe', 2, u16(1), field('a'), Buffer.from([0])),
  }

  test.each(Object.entries(wrong))('%s closes the connection', async (_, bytes) => {
    const client = await broker.connect()

    client.send(bytes())

    expect(await client.end()).toEqual([])
  })
})
