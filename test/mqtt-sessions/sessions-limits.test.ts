import type { PublishPacket } from 'aedes'
import { connectAsync, type MqttClient } from 'mqtt'
import { afterEach, describe, expect, test } from 'vitest'
import {
  queuedPerSessionMax,
  retainedPayloadBytesMax,
  retainedPerUserMax,
  sessionsPerUserMax,
  subscriptionsPerSessionMax,
  unusedUsMax,
} from '../../src/ingest/mqtt-sessions/limits.ts'
import { HandClock } from '../support/hand-clock.ts'
import { SessionBroker } from '../support/session-broker.ts'
import { SessionSubscriber } from '../support/session-subscriber.ts'

const clients: MqttClient[] = []

afterEach(() => {
  for (const client of clients.splice(0)) client.end(true)
})

async function connect({ port }: SessionBroker, clientId: string): Promise<MqttClient> {
  const client = await connectAsync({
    host: '127.0.0.1',
    port,
    clientId,
    clean: false,
    reconnectPeriod: 0,
  })
  clients.push(client)
  return client
}

/** What a SUBACK says to each of the filters. */
async function codes(client: MqttClient, filters: readonly string[]): Promise<readonly number[]> {
  return await new Promise((resolve, reject) => {
    client.subscribe([...filters], { qos: 1 }, (error, _, packet) => {
      if (packet?.granted) resolve(packet.granted.map(Number))
      else reject(error ?? new Error('no SUBACK'))
    })
  })
}

interface Kept {
  readonly topic?: string
  readonly bytes?: number
  readonly retain?: boolean
}

function message({ topic = 'commands', bytes = 1, retain = false }: Kept): PublishPacket {
  const payload = Buffer.alloc(bytes, 'x')
  return { cmd: 'publish', topic, payload, qos: 1, retain, dup: false }
}

async function keepAll({ sessions }: SessionBroker, messages: readonly Kept[]): Promise<void> {
  await Promise.all(messages.map((one) => sessions.keep(null, message(one))))
}

function times<Made>(count: number, make: (index: number) => Made): Made[] {
  return Array.from({ length: count }, (_, index) => make(index))
}

describe('a session that nobody is connected with', () => {
  test('takes so many messages and no more', async () => {
    await using broker = await SessionBroker.start()
    await new SessionSubscriber('device').subscribe(broker.port, 'commands', 1)

    await keepAll(
      broker,
      times(queuedPerSessionMax + 2, () => ({})),
    )

    expect(broker.sessions.stats()).toMatchObject({ queued: queuedPerSessionMax, queueDropped: 2 })
    await broker.crash()
    expect(broker.sessions.stats()).toMatchObject({ queued: queuedPerSessionMax })
  })

  test('takes so many bytes and no more', async () => {
    await using broker = await SessionBroker.start()
    await new SessionSubscriber('device').subscribe(broker.port, 'commands', 1)

    await keepAll(
      broker,
      times(17, () => ({ bytes: 1024 ** 2 })),
    )

    expect(broker.sessions.stats()).toMatchObject({ queued: 15, queueDropped: 2 })
  })

  test('ends when it was not used for long, and another does not', async () => {
    let nowUs = 1_000_000_000
    await using broker = await SessionBroker.start({
      nowUs: () => nowUs,
      steadyUs: () => nowUs,
    })
    await new SessionSubscriber('unused').subscribe(broker.port, 'commands', 1)
    const used = new SessionSubscriber('used')
    await used.subscribe(broker.port, 'commands', 1)
    await keepAll(broker, [{}])
    nowUs += unusedUsMax
    await used.connect(broker.port, { isSilent: true })
    nowUs += 1

    await broker.sessions.purge()

    const left = { sessions: 1, subscriptions: 1, queued: 1, expired: 1 }
    expect(broker.sessions.stats()).toMatchObject(left)
    used.disconnect()
    await broker.crash()
    expect(broker.sessions.stats()).toMatchObject({ ...left, expired: 0 })
  })

  test.each([-2 * unusedUsMax, 2 * unusedUsMax])(
    'ends neither sooner nor later when the wall clock is set by %s microseconds',
    async (stepUs) => {
      const clock = new HandClock()
      await using broker = await SessionBroker.start(clock)
      await new SessionSubscriber('unused').subscribe(broker.port, 'commands', 1)
      await expect.poll(() => broker.sessions.stats().connected).toBe(0)
      clock.step(stepUs)
      clock.atUs += unusedUsMax
      await broker.sessions.purge()
      expect(broker.sessions.stats()).toMatchObject({ sessions: 1, expired: 0 })

      clock.atUs += 1
      await broker.sessions.purge()
      expect(broker.sessions.stats()).toMatchObject({ sessions: 0, expired: 1 })
    },
  )
})

describe('subscriptions', () => {
  test('are stored as far as they are granted, each once', async () => {
    await using broker = await SessionBroker.start()
    const client = await connect(broker, 'device')

    expect(await codes(client, ['refused/a', 'b', 'c', 'refused/d'])).toEqual([128, 1, 1, 128])
    expect(await codes(client, ['b'])).toEqual([1])

    expect(broker.sessions.stats()).toMatchObject({ subscriptions: 2 })
    await broker.crash()
    expect(broker.sessions.stats()).toMatchObject({ subscriptions: 2 })
  })

  test('beyond the limit are refused', async () => {
    await using broker = await SessionBroker.start()
    const client = await connect(broker, 'device')
    const filters = times(subscriptionsPerSessionMax + 1, (index) => `commands/${index}`)

    expect(await codes(client, filters.slice(1))).not.toContain(128)

    expect(await codes(client, ['commands/0', 'commands/1'])).toEqual([128, 1])
  })
})

test('a user has so many sessions and no more', async () => {
  await using broker = await SessionBroker.start()
  const { persistence } = broker.sessions
  const open = (index: number) => persistence.subscriptionsByClient({ id: `device-${index}` })
  await Promise.all(times(sessionsPerUserMax - 1, open))
  expect(broker.sessions.hasRoomFor('another')).toBe(true)
  await open(sessionsPerUserMax)

  expect(broker.sessions.hasRoomFor('another')).toBe(false)
  expect(broker.sessions.hasRoomFor('device-7')).toBe(true)
  await expect(open(sessionsPerUserMax + 1)).rejects.toThrow(/as many MQTT sessions/)
})

describe('retained messages', () => {
  test('beyond their number are delivered and not kept', async () => {
    await using broker = await SessionBroker.start()
    await new SessionSubscriber('device').subscribe(broker.port, 'last', 1)
    const topics = times(retainedPerUserMax, (index) => ({ topic: `t/${index}`, retain: true }))
    await keepAll(broker, topics)

    await keepAll(broker, [{ topic: 'last', retain: true }])

    const figures = { retained: retainedPerUserMax, retainedDropped: 1, queued: 1 }
    expect(broker.sessions.stats()).toMatchObject(figures)
    await keepAll(broker, [{ topic: 't/1', bytes: 2, retain: true }])
    expect(broker.sessions.stats()).toMatchObject(figures)
  })

  test('that are too large take away what was there', async () => {
    await using broker = await SessionBroker.start()
    const bytes = retainedPayloadBytesMax
    await keepAll(broker, [{ topic: 'a', bytes, retain: true }])
    expect(broker.sessions.stats()).toMatchObject({ retained: 1, retainedBytes: bytes + 1 })

    await keepAll(broker, [{ topic: 'a', bytes: bytes + 1, retain: true }])

    const none = { retained: 0, retainedBytes: 0 }
    expect(broker.sessions.stats()).toMatchObject({ ...none, retainedDropped: 1 })
    await broker.crash()
    expect(broker.sessions.stats()).toMatchObject(none)
  })
})
