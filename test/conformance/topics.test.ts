import { describe, expect, test } from 'vitest'
import { publishPacket } from '../support/raw-mqtt.ts'
import { drain, publish, receive, subscribe, testedBroker } from './tested-broker.ts'

const broker = testedBroker()

/** Which of these topics below a new root a filter below it lets through. */
async function matching(filter: string, names: readonly string[]): Promise<string[]> {
  const [subscriber, publisher] = [await broker.connect(), await broker.connect()]
  const root = broker.newRoot()
  expect(await subscribe(subscriber, [root + filter, 1])).toEqual([1])
  for (const name of names) await publish(publisher, { topic: root + name, payload: 'x', qos: 1 })
  const delivered = await drain(broker, subscriber, publisher)
  return delivered.map(({ topic }) => topic.slice(root.length))
}

const names = ['', '/', '//', '/a', '/a/', '/a/b', '/a/b/c', '/b', '/b/c', '/ a', '/A', '//a']

describe('a filter', () => {
  test.each<[string, string[]]>([
    ['/a', ['/a']],
    ['/a/', ['/a/']],
    ['/', ['/']],
    ['/#', names],
    ['/a/#', ['/a', '/a/', '/a/b', '/a/b/c']],
    ['/a/b/#', ['/a/b', '/a/b/c']],
    ['/+', ['/', '/a', '/b', '/ a', '/A']],
    ['/+/', ['//', '/a/']],
    ['/+/+', ['//', '/a/', '/a/b', '/b/c', '//a']],
    ['/+/b', ['/a/b']],
    ['/+/b/#', ['/a/b', '/a/b/c']],
    ['/+/+/+', ['/a/b/c']],
    ['/a/+', ['/a/', '/a/b']],
    ['/a/+/c', ['/a/b/c']],
    ['//+', ['//', '//a']],
    ['//#', ['/', '//', '//a']],
    ['/+/#', names.filter((name) => name !== '')],
  ])(
    '[MQTT-3.3.2-3] [MQTT-4.7.1-2] [MQTT-4.7.1-3] %s lets through what it matches, and nothing else',
    async (filter, expected) => {
      expect(new Set(await matching(filter, names))).toEqual(new Set(expected))
    },
  )

  test('[MQTT-4.7.3-4] is compared without any normalization', async () => {
    const similar = ['/é', '/e\u0301', '/É', '/%C3%A9', '/é ', '/é/', '//é', '/./é', '/a/../é']

    expect(await matching('/é', similar)).toEqual(['/é'])
    expect(await matching('/e\u0301', similar)).toEqual(['/e\u0301'])
  })

  test('[MQTT-4.7.3-4] may have names that mean something elsewhere', async () => {
    const odd = ['/constructor', '/__proto__', '/*', '/?', '/a b', '/{x}', '/[a-z]', '/\\d', '/%']

    for (const name of odd) expect(await matching(name, odd)).toEqual([name])
  })

  test.each(['#', '+/monitor/#'])(
    '[MQTT-4.7.2-1] %s brings nothing of the topics that begin with $',
    async (filter) => {
      const [subscriber, publisher] = [await broker.connect(), await broker.connect()]
      await subscribe(subscriber, [filter, 1])
      await publish(publisher, { topic: '$SYS/monitor/x', payload: 'forged', qos: 1 })
      // Clients that come and go are what brokers tell of there.
      await (await broker.connect()).break()

      expect(await drain(broker, subscriber, publisher)).toEqual([])
    },
  )

  test('[MQTT-4.7.2-1] matches $ behind the first character of a topic like any other', async () => {
    const dollars = ['/$SYS', '/$SYS/x', '/a/$x']

    expect(new Set(await matching('/#', dollars))).toEqual(new Set(dollars))
    expect(await matching('/+', dollars)).toEqual(['/$SYS'])
  })
})

describe('a topic', () => {
  test('[MQTT-4.7.3-1] of a slash is a topic: it may be published to, and is not of the user', async () => {
    const client = await broker.connect()

    await publish(client, { topic: '/', payload: 'x', qos: 1 })

    expect(await subscribe(client, ['/', 1])).toEqual([0x80])
  })

  test.each([0, 1, 2])('[MQTT-4.7.3-2] with NUL closes the connection, at QoS %i', async (qos) => {
    const client = await broker.connect()

    client.send(publishPacket({ topic: `${broker.newRoot()}/a\0b`, qos }))

    expect(await client.end()).toEqual([])
  })

  test('[MQTT-4.7.3-3] of a thousand bytes is delivered whole', async () => {
    const [subscriber, publisher] = [await broker.connect(), await broker.connect()]
    const topic = `${broker.newRoot()}/`.padEnd(1_000, 'long')
    await subscribe(subscriber, [topic, 1])

    await publish(publisher, { topic, payload: 'x', qos: 1 })

    expect(await receive(subscriber, 1)).toMatchObject([{ topic }])
  })

  test('[MQTT-4.7.1-1] with a wildcard is none, whoever has subscribed to it', async () => {
    const [subscriber, publisher] = [await broker.connect(), await broker.connect()]
    const root = broker.newRoot()
    await subscribe(subscriber, [`${root}/+`, 1])

    publisher.send(publishPacket({ topic: `${root}/+`, qos: 1 }))

    expect(await publisher.end()).toEqual([])
    expect(await drain(broker, subscriber, await broker.connect())).toEqual([])
  })
})
