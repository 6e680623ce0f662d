import { afterAll, beforeAll, describe } from 'vitest'
import { kafka } from '../../connectors/kafka/kafka.ts'
import { connectorContract } from '../contracts/connector-contract.ts'
import { isKafkaMissing, Kafka } from '../support/kafka.ts'

describe.skipIf(isKafkaMissing)('a member of a group of Kafka', () => {
  let server: Kafka
  beforeAll(async () => {
    server = await Kafka.start()
  })
  afterAll(async () => await server[Symbol.asyncDispose]())

  connectorContract({
    async peer() {
      await server.start()
      const topic = await server.newTopic()
      return {
        connector: kafka,
        source: { protocol: 'kafka', endpoint: server.endpoint, topic },
        ports: [server.port],
        publish: async (payloads) =>
          await server.produce(
            topic,
            payloads.map((value) => ({ value })),
          ),
        stop: async () => await server.stop(),
        start: async () => await server.start(),
      }
    },
    unacknowledgedMax: 4_000,
    hasPositions: true,
  })
})
