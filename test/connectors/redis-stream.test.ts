import { afterAll, describe } from 'vitest'
import { redisStream } from '../../connectors/redis-stream/redis-stream.ts'
import { connectorContract, type FetchedPeer } from '../contracts/connector-contract.ts'
import { isRedisMissing, RedisServer } from '../support/redis-server.ts'

let server: RedisServer | undefined

afterAll(async () => await server?.[Symbol.asyncDispose]())

async function newPeer(more: Readonly<Record<string, unknown>>): Promise<FetchedPeer> {
  server ??= await RedisServer.start()
  await server.start()
  const there = server
  const client = await there.client()
  const topic = there.newKey()
  return {
    connector: redisStream,
    source: { protocol: 'redis', endpoint: there.endpoint, topic, payloadField: 'body', ...more },
    ports: [there.port],
    publish: async (payloads) => {
      const pipeline = client.pipeline()
      for (const payload of payloads) pipeline.xadd(topic, '*', 'body', Buffer.from(payload))
      await pipeline.exec()
    },
    stop: async () => await there.stop(),
    start: async () => await there.start(),
  }
}

describe.skipIf(isRedisMissing).each([
  ['by itself', {}],
  ['in a group', { group: 'vault' }],
])('a stream of Redis that is read %s', (_, more) => {
  connectorContract({
    peer: async () => await newPeer(more),
    unacknowledgedMax: 1_000,
    hasPositions: true,
  })
})
