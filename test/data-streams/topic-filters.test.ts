import { describe, expect, test } from 'vitest'
import { fetchedMessage } from '../../connectors/amqp/deliveries.ts'
import { amqpOptions } from '../../connectors/amqp/options.ts'
import { newId, type StreamId, type UserId } from '../../src/core/ids.ts'
import { senderOf } from '../../src/ingest/pipeline/sender.ts'
import { StreamDirectory } from '../../src/ingest/pipeline/stream-directory.ts'
import { takesSeveralTopics } from '../../src/streams/data-streams/source-kinds.ts'

describe('a filter lets more than one sender in', () => {
  test.each<[object]>([
    [{ topic: 'plants/+/boiler' }],
    [{ topic: 'plants/#' }],
    [{ topic: '#' }],
    [{ topic: '+' }],
    // Only one topic may ever match, and nobody knows.
    [{ topic: 'spBv1.0/plant/+/node7/pump', format: 'sparkplug' }],
    [{ protocol: 'mqtt', endpoint: 'mqtt://broker', topic: '$share/group/plants/+' }],
    [{ protocol: 'mqtt', endpoint: 'mqtt://broker', topic: 'plants/+', sharedGroup: 'group' }],
    [{ topic: '$aws/things/+/shadow/update/accepted', endpoint: 'mqtts://broker' }],
    [{ protocol: 'nats', topic: 'plants.*.boiler' }],
    [{ protocol: 'nats', topic: 'plants.>' }],
    [{ protocol: 'kafka', topic: 'one,two' }],
    [{ protocol: 'amqp', exchange: 'plants', routingKey: 'boiler.#' }],
  ])('%j', (source) => {
    expect(takesSeveralTopics(source as Record<string, unknown>)).toBe(true)
  })
})

describe('a source of one topic tells nobody apart', () => {
  test.each<[object]>([
    [{}],
    [{ topic: 'plants/7/boiler' }],
    [{ topic: 'plants/c++/boiler#1' }],
    [{ protocol: 'mqtt', topic: '$share/group/plants/7' }],
    [{ protocol: 'nats', topic: 'plants.7.boiler' }],
    [{ protocol: 'nats', topic: 'plants.a*b' }],
    [{ protocol: 'kafka', topic: 'one' }],
    [{ protocol: 'kafka', topic: 'one,one' }],
    [{ protocol: 'redis', topic: 'plants*' }],
    [{ protocol: 'http' }],
    [{ endpoint: 'https://example.com/+/#' }],
  ])('%j', (source) => {
    expect(takesSeveralTopics(source as Record<string, unknown>)).toBe(false)
  })
})

describe('a message of AMQP has its routing key as topic', () => {
  const endpoint = 'amqp://localhost'
  const fetched = (source: object, routingKey: string) => {
    const options = amqpOptions({ streamId: newId<StreamId>(), source: { endpoint, ...source } })
    const message = { content: Buffer.alloc(0), fields: { routingKey }, properties: {} }
    return fetchedMessage(message, options)
  }

  test.each<[object, string]>([
    [{ exchange: 'plants', routingKey: 'boiler.*' }, 'boiler.7'],
    [{ exchange: 'plants', routingKey: 'boiler.#' }, 'boiler.7'],
    [{ exchange: 'plants' }, 'boiler.7'],
    [{ exchange: 'plants', bindings: [{ routingKey: 'a' }, { routingKey: 'b' }] }, 'a'],
    // An exchange that passes on all that it gets, whatever the key.
    [{ exchange: 'plants', routingKey: 'a' }, 'b'],
    // Somebody has bound the queue to an exchange.
    [{ topic: 'readings' }, 'boiler.7'],
  ])('which tells senders apart where more than one may come: %j', (source, key) => {
    expect(fetched(source, key)).toMatchObject({ topic: key, separator: '.' })
    expect(fetched(source, key)).not.toHaveProperty('isOnlyTopic')
  })

  test.each<[object, string]>([
    [{ exchange: 'plants', routingKey: 'boiler.7' }, 'boiler.7'],
    [{ exchange: 'plants', bindings: [{ routingKey: 'boiler.7' }] }, 'boiler.7'],
    [{ topic: 'readings' }, 'readings'],
  ])('and tells none apart where it is the only one: %j', (source, key) => {
    expect(fetched(source, key)).toMatchObject({ topic: key, isOnlyTopic: true })
  })
})

describe('the sender of a message', () => {
  const fields = { level: { type: 'number' } } as const
  const times = { timestampField: 'timestamp', timestampFormat: 'rfc3339' } as const

  async function senderOn(
    topic: string | undefined,
    more: object = {},
  ): Promise<string | undefined> {
    const streamId = newId<StreamId>()
    const directory = new StreamDirectory(async () => ({
      streamId,
      ownerId: newId<UserId>(),
      version: 1,
      schema: { fields, validation: 'lenient', ...times },
      distinguishesSenders: true,
      ...more,
    }))
    const stream = await directory.find(streamId)
    if (stream === undefined) throw new Error('the stream is not there')
    const own = topic?.replace('OWN', streamId)
    return senderOf({ stream, ...(own !== undefined && { topic: own }) })
  }

  test('is its topic: 64 bits of the SHA-256, which stay what they are', async () => {
    expect(await senderOn('plants/7/boiler')).toBe('b47c05d2568ccb10')
    expect(await senderOn('plants/8/boiler')).not.toBe('b47c05d2568ccb10')
  })

  test('is nobody on the topic of the stream, without a topic, and where there is one topic', async () => {
    expect(await senderOn('streams/OWN/data')).toBe(undefined)
    expect(await senderOn(undefined)).toBe(undefined)
    expect(await senderOn('plants/7', { distinguishesSenders: false })).toBe(undefined)
  })

  test('is the device of Sparkplug, or the edge node, whatever kind of message it is', async () => {
    const format = { format: 'sparkplug' }
    const [birth, data, node, other, group] = await Promise.all(
      ['DBIRTH/n/d', 'DDATA/n/d', 'NDATA/n', 'DDATA/n/e']
        .map((end) => senderOn(`spBv1.0/g/${end}`, format))
        .concat(senderOn('spBv1.0/h/DDATA/n/d', format)),
    )

    expect(data).toBe(birth)
    expect(new Set([data, node, other, group]).size).toBe(4)
  })
})
