import { describe, expect, test } from 'vitest'
import { packet } from '../support/mqtt-bytes.ts'
import { disconnectPacket, pingreqPacket, publishPacket } from '../support/raw-mqtt.ts'
import { drain, publish, receive, subscribe, testedBroker } from './tested-broker.ts'

const broker = testedBroker()

describe('a will', () => {
  test.each([0, 1, 2])(
    '[MQTT-3.1.2-8] [MQTT-3.1.2-9] [MQTT-3.1.2-14] of QoS %i is published when the network fails',
    async (qos) => {
      const topic = `${broker.newRoot()}/will`
      const watcher = await broker.connect()
      await subscribe(watcher, [topic, 2])
      const client = await broker.connect({ will: { topic, payload: 'gone', qos } })

      await client.break()

      expect(await receive(watcher, 1)).toMatchObject([
        { topic, payload: 'gone', qos, retain: false, dup: false },
      ])
    },
  )

  test('[MQTT-3.1.2-8] is published when the client breaks the protocol', async () => {
    const topic = `${broker.newRoot()}/will`
    const watcher = await broker.connect()
    await subscribe(watcher, [topic, 1])
    const client = await broker.connect({ will: { topic, payload: 'expelled', qos: 1 } })

    client.send(packet(0, 0))

    await client.end()
    expect(await receive(watcher, 1)).toMatchObject([{ payload: 'expelled' }])
  })

  test('[MQTT-3.1.2-8] is published when another client takes the place', async () => {
    const topic = `${broker.newRoot()}/will`
    const clientId = broker.newClientId()
    const watcher = await broker.connect()
    await subscribe(watcher, [topic, 1])
    const client = await broker.connect({ clientId, will: { topic, payload: 'replaced', qos: 1 } })

    await broker.connect({ clientId })

    await client.end()
    expect(await receive(watcher, 1)).toMatchObject([{ payload: 'replaced' }])
  })

  test('[MQTT-3.1.2-16] without the retain flag is not retained', async () => {
    const topic = `${broker.newRoot()}/will`
    const publisher = await broker.connect()
    await publish(publisher, { topic, payload: 'kept before', qos: 1, retain: true })
    const watcher = await broker.connect()
    await subscribe(watcher, [topic, 1])
    await receive(watcher, 1)
    const client = await broker.connect({ will: { topic, payload: 'gone', qos: 1 } })

    await client.break()

    expect(await receive(watcher, 1)).toMatchObject([{ payload: 'gone', retain: false }])
    const later = await broker.connect()
    await subscribe(later, [topic, 1])
    expect(await receive(later, 1)).toMatchObject([{ payload: 'kept before', retain: true }])
  })

  test('[MQTT-3.1.2-17] with the retain flag is retained', async () => {
    const topic = `${broker.newRoot()}/will`
    const watcher = await broker.connect()
    await subscribe(watcher, [topic, 1])
    const client = await broker.connect({
      will: { topic, payload: 'gone', qos: 1, retain: true },
    })

    await client.break()

    expect(await receive(watcher, 1)).toMatchObject([{ payload: 'gone', retain: false }])
    const later = await broker.connect()
    await subscribe(later, [topic, 1])
    expect(await receive(later, 1)).toMatchObject([{ payload: 'gone', retain: true }])
  })

  test('[MQTT-3.14.4-3] [MQTT-3.1.2-10] is discarded with DISCONNECT', async () => {
    const topic = `${broker.newRoot()}/will`
    const [watcher, publisher] = [await broker.connect(), await broker.connect()]
    await subscribe(watcher, [topic, 1])
    const client = await broker.connect({ will: { topic, payload: 'gone', qos: 1 } })

    client.send(disconnectPacket)

    expect(await client.end()).toEqual([])
    expect(await drain(broker, watcher, publisher)).toEqual([])
  })

  test('[MQTT-3.1.2-10] that was published is not published again', async () => {
    const topic = `${broker.newRoot()}/will`
    const clientId = broker.newClientId()
    const [watcher, publisher] = [await broker.connect(), await broker.connect()]
    await subscribe(watcher, [topic, 1])
    const will = { topic, payload: 'gone', qos: 1 }
    const client = await broker.connect({ clientId, clean: false, will })
    await client.break()
    await receive(watcher, 1)

    const again = await broker.connect({ clientId, clean: false })
    await again.break()
    // Who comes after it has taken its place: the broken one is done with by then.
    await broker.connect({ clientId, clean: false })

    expect(await drain(broker, watcher, publisher)).toEqual([])
  })

  test('[MQTT-3.1.2-12] that was not given is not published', async () => {
    const root = broker.newRoot()
    const clientId = broker.newClientId()
    const [watcher, publisher] = [await broker.connect(), await broker.connect()]
    await subscribe(watcher, [`${root}/#`, 1])
    const client = await broker.connect({ clientId })
    client.send(publishPacket({ topic: `${root}/alive`, payload: 'alive' }), pingreqPacket)
    await client.next()

    await client.break()
    await broker.connect({ clientId })

    expect(await drain(broker, watcher, publisher)).toMatchObject([{ payload: 'alive' }])
  })

  test('[MQTT-3.1.2-8] without a payload is published, too', async () => {
    const topic = `${broker.newRoot()}/will`
    const watcher = await broker.connect()
    await subscribe(watcher, [topic, 1])
    const client = await broker.connect({ will: { topic, payload: '', qos: 1 } })

    await client.break()

    expect(await receive(watcher, 1)).toMatchObject([{ topic, payload: '' }])
  })

  test.each(['+/will', '#'])(
    '[MQTT-4.7.1-1] [MQTT-3.1.4-1] with the wildcard topic %s is refused',
    async (wildcard) => {
      const client = await broker.open()

      client.send(
        broker.connectPacket({
          will: { topic: `${broker.newRoot()}/${wildcard}`, payload: 'x' },
        }),
      )

      const answers = await client.end()
      expect(answers).not.toContainEqual(expect.objectContaining({ returnCode: 0 }))
    },
  )
})
