import { afterEach, describe } from 'vitest'
import { mqttClient } from '../../connectors/mqtt-client/mqtt-client.ts'
import { connectorContract, type FetchedPeer } from '../contracts/connector-contract.ts'
import { Mosquitto } from '../support/mosquitto.ts'

const brokers: Mosquitto[] = []

afterEach(async () => {
  for (const broker of brokers.splice(0)) await broker[Symbol.asyncDispose]()
})

const topic = 'plants/7/boiler'

/**
 * Messages under way at most: mosquitto forgets what of QoS 2 is more than its
 * `max_inflight_messages`, and acknowledges it.
 */
const underWayMax = 20

async function newPeer(options: {
  readonly version: number
  readonly qos: 1 | 2
}): Promise<FetchedPeer> {
  const broker = await Mosquitto.start()
  brokers.push(broker)
  const { qos } = options
  return {
    connector: mqttClient,
    source: { endpoint: broker.endpoint, topic, ...options },
    ports: [broker.port],
    async publish(payloads) {
      const client = await broker.client()
      for (let from = 0; from < payloads.length; from += underWayMax) {
        const some = payloads.slice(from, from + underWayMax)
        await Promise.all(some.map((one) => client.publishAsync(topic, Buffer.from(one), { qos })))
      }
      await client.endAsync()
    },
    stop: () => broker.stop(),
    start: () => broker.start(),
  }
}

describe.each([
  { version: 5, qos: 1 },
  { version: 5, qos: 2 },
  { version: 4, qos: 1 },
  { version: 4, qos: 2 },
] as const)('a client of MQTT version $version with QoS $qos', (options) => {
  connectorContract({ peer: () => newPeer(options), unacknowledgedMax: 1_000 })
})
