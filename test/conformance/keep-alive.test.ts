import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { packet, u16 } from '../support/mqtt-bytes.ts'
import { disconnectPacket, pingreqPacket, publishPacket } from '../support/raw-mqtt.ts'
import { drain, receive, subscribe, testedBroker } from './tested-broker.ts'

const broker = testedBroker()

describe.concurrent('the keep-alive', () => {
  test('[MQTT-3.1.2-24] ends a connection that is silent for one and a half times as long', async () => {
    const topic = `${broker.newRoot()}/will`
    const watcher = await broker.connect()
    await subscribe(watcher, [topic, 1])
    const connectedAt = performance.now()
    const client = await broker.connect({
      keepAlive: 1,
      will: { topic, payload: 'silent', qos: 1 },
    })

    expect(await client.end()).toEqual([])

    // Timers and the clock are not in step to the millisecond.
    expect(performance.now() - connectedAt).toBeGreaterThan(1_400)
    expect(await receive(watcher, 1)).toMatchObject([{ payload: 'silent' }])
  })

  test('[MQTT-3.1.2-24] leaves a client connected that sends something in time', async () => {
    const client = await broker.connect({ keepAlive: 4 })
    const topic = broker.newRoot()

    // Longer than one and a half times as long; in between there is time for a machine that stands still.
    for (let index = 0; index < 4; index++) {
      await sleep(2_000)
      client.send(index % 2 === 0 ? pingreqPacket : publishPacket({ topic, qos: 1 }))
      expect(await client.next()).toMatchObject({ type: index % 2 === 0 ? 'pingresp' : 'puback' })
    }
  })

  test('[MQTT-3.1.2-24] is not kept by what the server sends', async () => {
    const topic = broker.newRoot()
    const publisher = await broker.connect()
    const client = await broker.connect({ keepAlive: 4 })
    await subscribe(client, [topic, 0])
    const sending = setInterval(() => publisher.send(publishPacket({ topic })), 100)

    const messages = await client.end()

    clearInterval(sending)
    expect(messages.length).toBeGreaterThan(0)
  })

  test('[MQTT-3.1.2-24] of 0 is none', async () => {
    const client = await broker.connect({ keepAlive: 0 })

    await sleep(3_000)

    client.send(pingreqPacket)
    expect(await client.next()).toEqual({ type: 'pingresp' })
  })
})

test('[MQTT-3.12.4-1] PINGREQs are each answered with a PINGRESP', async () => {
  const client = await broker.connect()

  client.send(pingreqPacket, pingreqPacket, pingreqPacket)

  expect(await client.take(3)).toEqual(Array.from({ length: 3 }, () => ({ type: 'pingresp' })))
})

describe('DISCONNECT', () => {
  test('[MQTT-3.14.1-1] [MQTT-4.8.0-1] with another flag is no farewell', async () => {
    const topic = `${broker.newRoot()}/will`
    const watcher = await broker.connect()
    await subscribe(watcher, [topic, 1])

    for (const flags of [1, 2, 4, 8, 15]) {
      const payload = `flags ${flags}`
      const client = await broker.connect({ will: { topic, payload, qos: 1 } })
      client.send(packet('disconnect', flags))
      expect(await client.end()).toEqual([])
      expect(await receive(watcher, 1)).toMatchObject([{ payload }])
    }
  })

  test('[MQTT-3.14.4-3] is the last packet that is looked at', async () => {
    const topic = broker.newRoot()
    const [watcher, publisher] = [await broker.connect(), await broker.connect()]
    await subscribe(watcher, [topic, 1])
    const client = await broker.connect()

    client.send(
      publishPacket({ topic, payload: 'before' }),
      disconnectPacket,
      publishPacket({ topic, payload: 'after' }),
      packet('puback', 0, u16(1)),
    )

    await client.end()
    expect(await drain(broker, watcher, publisher)).toMatchObject([{ payload: 'before' }])
  })
})
