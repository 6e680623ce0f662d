import { connectAsync, type IClientOptions, type MqttClient } from 'mqtt'
import { afterEach, describe, expect, test } from 'vitest'
import { closed } from '../support/mqtt-clients.ts'
import {
  connectPacket,
  publishPacket,
  pubrelPacket,
  RawMqttConnection,
} from '../support/mqtt-packets.ts'
import { SessionBroker } from '../support/session-broker.ts'
import { SessionSubscriber } from '../support/session-subscriber.ts'

const clients: MqttClient[] = []

afterEach(() => {
  for (const client of clients.splice(0)) client.end(true)
})

async function connect({ port }: SessionBroker, options: IClientOptions): Promise<MqttClient> {
  const client = await connectAsync({
    host: '127.0.0.1',
    port,
    clientId: 'device',
    clean: false,
    reconnectPeriod: 0,
    ...options,
  })
  clients.push(client)
  return client
}

function willOf(payload: string, qos: 1 | 2) {
  return { topic: 'wills', payload: Buffer.from(payload), qos, retain: false }
}

describe('a client that takes the place of another', () => {
  test('with a clean session leaves nothing of what was there', async () => {
    await using broker = await SessionBroker.start()
    const { sessions } = broker
    const first = await connect(broker, {})
    expect(sessions.stats()).toMatchObject({ sessions: 1, connected: 1 })

    const replaced = closed(first)
    await connect(broker, { clean: true })
    await replaced

    expect(sessions.stats()).toMatchObject({ sessions: 0, connected: 0 })
  })

  test('has its own will, and that of the other is gone', async () => {
    await using broker = await SessionBroker.start()
    const first = await connect(broker, { will: willOf('first', 1) })
    const replaced = closed(first)
    await connect(broker, { will: willOf('second', 1) })
    await replaced

    await broker.crash()

    expect(broker.sessions.leftWills().map(({ payload }) => payload.toString())).toEqual(['second'])
  })
})

test('every will with QoS 2 of one session is kept for those who are away', async () => {
  await using broker = await SessionBroker.start()
  const listener = new SessionSubscriber('listener')
  await listener.subscribe(broker.port, 'wills', 2)

  for (const payload of ['first', 'second']) {
    const mortal = await connect(broker, { will: willOf(payload, 2) })
    const before = broker.sessions.stats().queued
    mortal.stream.destroy()
    await expect.poll(() => broker.sessions.stats().queued).toBe(before + 1)
  }

  await listener.connect(broker.port)
  await expect.poll(() => listener.delivered).toEqual(['first', 'second'])
  listener.disconnect()
})

test('a message with QoS 2 that is sent twice before its release is kept once', async () => {
  await using broker = await SessionBroker.start()
  await new SessionSubscriber('listener').subscribe(broker.port, 'commands', 2)
  const publisher = await RawMqttConnection.open(broker.port)
  const message = { topic: 'commands', payload: 'x', packetId: 1, qos: 2 } as const
  publisher.send(connectPacket({ clientId: 'passing' }))
  publisher.send(publishPacket(message), publishPacket({ ...message, isDup: true }))
  await publisher.next(3)
  expect(broker.sessions.stats().queued).toBe(1)

  publisher.send(pubrelPacket(1))
  await publisher.next()
  publisher.send(publishPacket(message))
  await publisher.next()
  expect(broker.sessions.stats().queued).toBe(2)
  publisher.destroy()
})
