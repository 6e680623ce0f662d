import { afterAll, beforeAll, describe } from 'vitest'
import { opcua } from '../../connectors/opcua/opcua.ts'
import { opcUaCredentials } from '../../scripts/servers/opcua.ts'
import { connectorContract, type FetchedPeer } from '../contracts/connector-contract.ts'
import { OpcUaTestServer } from '../support/opcua-server.ts'

/** Variables that nobody has used before: one for each test. */
const names = Array.from({ length: 30 }, (_, index) => `number-${index}`)

let server: OpcUaTestServer
let used = 0

beforeAll(async () => {
  const variables = Object.fromEntries(names.map((name) => [name, 'Int64'] as const))
  server = await OpcUaTestServer.start({ variables })
})

afterAll(async () => await server[Symbol.asyncDispose]())

async function newPeer(): Promise<FetchedPeer> {
  const name = names[used++] as string
  await server.start()
  return {
    connector: opcua,
    source: {
      protocol: 'opcua',
      endpoint: server.endpoint,
      credentials: opcUaCredentials,
      items: { number: `ns=1;s=${name}` },
      samplingInterval: 0,
      publishingInterval: 50,
      queueSize: 5_000,
    },
    ports: [server.port],
    publish: async (payloads) => {
      const values = payloads.map((payload) => {
        const [, value, time] =
          /"number":(\d+),"timestamp":"(.*)"/.exec(Buffer.from(payload).toString()) ?? []
        return { name, value, time: time as string }
      })
      await server.set(values)
    },
    stop: () => server.stop(),
    start: () => server.start(),
  }
}

describe('a subscriber of OPC UA', () => {
  connectorContract({ peer: newPeer, unacknowledgedMax: 20, hasPositions: true, carries: 'rows' })
})
