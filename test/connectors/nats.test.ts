import { afterAll, describe } from 'vitest'
import { nats } from '../../connectors/nats/nats.ts'
import { unsettledMax } from '../../connectors/nats/requests.ts'
import { connectorContract, type FetchedPeer } from '../contracts/connector-contract.ts'
import { isNatsMissing, NatsServer } from '../support/nats.ts'

let server: NatsServer | undefined

afterAll(async () => await server?.[Symbol.asyncDispose]())

async function newPeer(config: object): Promise<FetchedPeer> {
  server ??= await NatsServer.start()
  const running = server
  await running.start()
  const stream = await running.newStream({ ...config })
  const subject = stream.toLowerCase()
  return {
    connector: nats,
    source: { protocol: 'nats', endpoint: running.endpoint, topic: `${subject}.>` },
    ports: [running.port],
    publish: (payloads) => running.publish(`${subject}.boiler`, payloads),
    stop: () => running.stop(),
    start: () => running.start(),
  }
}

describe.skipIf(isNatsMissing).each(['limits', 'workqueue'])(
  'a client of NATS JetStream, of a stream with the retention %s',
  (retention) => {
    connectorContract({
      peer: () => newPeer({ retention }),
      unacknowledgedMax: unsettledMax,
      hasPositions: true,
    })
  },
)
