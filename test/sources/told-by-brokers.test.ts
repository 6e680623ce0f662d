import { headers } from '@nats-io/transport-node'
import { afterAll, describe, test } from 'vitest'
import { isKafkaMissing, Kafka } from '../support/kafka.ts'
import { isNatsMissing, NatsServer } from '../support/nats.ts'
import { isRabbitmqMissing, Rabbitmq } from '../support/rabbitmq.ts'
import { isRedisMissing, RedisServer } from '../support/redis-server.ts'
import { runningService } from '../support/running-service.ts'
import { ToldStream, toldPayloads } from '../support/told-messages.ts'

const kafka = isKafkaMissing ? undefined : await Kafka.start()
const nats = isNatsMissing ? undefined : await NatsServer.start()
const rabbitmq = isRabbitmqMissing ? undefined : await Rabbitmq.start()
const redis = isRedisMissing ? undefined : await RedisServer.start()
const servers = [kafka, nats, rabbitmq, redis].filter((server) => server !== undefined)
const allowed = servers.map(({ port }) => `127.0.0.1:${port}`).join(',')
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: allowed })

afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]()
})

const type = 'event_stream'
const text = (from: string) => ({ type: 'string', from })
const common = {
  last: text('$topic[-1]'),
  site: text('$header.site'),
  at: { type: 'datetime', from: '$time' },
}
const payloads = toldPayloads.map((payload) => Buffer.from(payload))

describe.skipIf(kafka === undefined)('a message of Kafka', () => {
  test('tells topic, key, headers, time and type', async () => {
    const topic = 'plants.north.readings'
    await kafka?.createTopic(topic, 1)
    const fields = { ...common, area: text('$topic[1]'), key: text('$key'), kind: text('$event') }
    const source = { protocol: 'kafka', endpoint: kafka?.endpoint, topic, startFrom: 'earliest' }
    const stream = await ToldStream.make(service.api, fields, { type, source })
    const producer = kafka?.producer()
    const named = new Map(
      Object.entries({ Site: 'north', ce_type: 'measured', authorization: 'hidden' }).map(
        ([name, value]) => [Buffer.from(name), Buffer.from(value)],
      ),
    )
    const timestamp = 1_769_853_590_123n
    const messages = payloads.map((value) => {
      return { topic, partition: 0, key: Buffer.from('b7'), value, headers: named, timestamp }
    })
    await producer?.send({ messages, acks: -1 })
    await producer?.close()
    const at = '2026-01-31T09:59:50.123000Z'
    await stream.has({
      last: 'readings',
      area: 'north',
      site: 'north',
      key: 'b7',
      kind: 'measured',
      at,
    })
  })
})

describe.skipIf(nats === undefined)('a message of NATS', () => {
  test('tells subject, headers and type, and when it was stored', async () => {
    const name = (await nats?.newStream()) ?? ''
    const fields = { ...common, kind: text('$event') }
    const topic = `${name.toLowerCase()}.>`
    const source = { protocol: 'nats', endpoint: nats?.endpoint, topic }
    const stream = await ToldStream.make(service.api, fields, { type, source })
    const client = await nats?.client()
    for (const payload of payloads) {
      const named = headers()
      named.set('Site', 'north')
      named.set('ce-type', 'measured')
      await client?.request(`${name.toLowerCase()}.boiler`, payload, {
        headers: named,
        timeout: 30_000,
      })
    }
    await stream.has({ last: 'boiler', site: 'north', kind: 'measured' })
  })
})

describe.skipIf(rabbitmq === undefined)('a message of AMQP', () => {
  test('tells routing key, headers, time and type', async () => {
    const queue = (await rabbitmq?.newQueue()) ?? ''
    const channel = await rabbitmq?.channel()
    await channel?.bindQueue(queue, 'amq.topic', 'plants.#')
    const { endpoint, credentials } = rabbitmq ?? {}
    const source = { protocol: 'amqp', endpoint, credentials, topic: queue }
    const stream = await ToldStream.make(
      service.api,
      { ...common, kind: text('$event') },
      { type, source },
    )
    const options = {
      headers: { Site: 'north', more: { a: 1 } },
      type: 'measured',
      timestamp: 1_769_853_590,
    }
    await rabbitmq?.publish(
      { exchange: 'amq.topic', routingKey: 'plants.boiler' },
      payloads,
      options,
    )
    const at = '2026-01-31T09:59:50.000000Z'
    await stream.has({ last: 'boiler', site: 'north', kind: 'measured', at })
  })
})

describe.skipIf(redis === undefined)('an entry of Redis', () => {
  test('tells the key of its stream, its other fields, and the time in its id', async () => {
    const key = redis?.newKey() ?? ''
    const source = {
      protocol: 'redis',
      endpoint: redis?.endpoint,
      topic: key,
      payloadField: 'body',
    }
    const { last: _, ...fields } = common
    const stream = await ToldStream.make(
      service.api,
      { ...fields, whole: text('$topic') },
      { type, source },
    )
    const client = await redis?.client()
    for (const [index, payload] of payloads.entries()) {
      await client?.xadd(
        key,
        `1769853590123-${index}`,
        'body',
        payload,
        'Site',
        'north',
        'token',
        'hidden',
      )
    }
    const at = '2026-01-31T09:59:50.123000Z'
    await stream.has({ whole: key, site: 'north', at })
  })
})
