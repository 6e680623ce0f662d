import { afterAll, describe } from 'vitest'
import { amqp } from '../../connectors/amqp/amqp.ts'
import { connectorContract, type FetchedPeer } from '../contracts/connector-contract.ts'
import { isRabbitmqMissing, Rabbitmq } from '../support/rabbitmq.ts'

let started: Promise<Rabbitmq> | undefined

afterAll(async () => {
  await (await started)?.[Symbol.asyncDispose]()
})

async function newPeer(queueType: 'classic' | 'quorum' | 'stream'): Promise<FetchedPeer> {
  started ??= Rabbitmq.start()
  const server = await started
  // A test before may have ended it.
  await server.start()
  const topic = await server.newQueue(queueType)
  const { endpoint, credentials, port } = server
  return {
    connector: amqp,
    source: { protocol: 'amqp', endpoint, credentials, topic, queueType },
    ports: [port],
    publish: (payloads) => server.publish({ routingKey: topic }, payloads),
    stop: () => server.stop(),
    start: () => server.start(),
  }
}

describe.skipIf(isRabbitmqMissing)('a consumer of a queue of RabbitMQ', () => {
  connectorContract({ peer: () => newPeer('classic'), unacknowledgedMax: 1_000 })
})

describe.skipIf(isRabbitmqMissing)('a reader of a stream of RabbitMQ', () => {
  connectorContract({
    peer: () => newPeer('stream'),
    unacknowledgedMax: 1_000,
    hasPositions: true,
  })
})
