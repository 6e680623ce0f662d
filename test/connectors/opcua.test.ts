import { afterAll, beforeAll, describe } from 'vitest'
import { opcua } from '../../connectors/opcua/opcua.ts'
import { opcUaCredentials } from '../../scripts/servers/opcua.ts'
import { connectorContract, type FetchedPeer } from '../contracts/connector-contract.ts'
import { AsyncuaTestServer, isAsyncuaMissing } from '../support/asyncua-server.ts'
import type { OpcUaPeer } from '../support/opcua-peer.ts'
import { OpcUaTestServer } from '../support/opcua-server.ts'

/** Variables that nobody has used before: one for each test. */
const names = Array.from({ length: 30 }, (_, index) => `number-${index}`)
const variables = Object.fromEntries(names.map((name) => [name, 'Int64'] as const))

interface Implementation {
  readonly name: string
  readonly isMissing: boolean
  readonly start: () => Promise<OpcUaPeer>
  readonly credentials?: typeof opcUaCredentials
}

const implementations: readonly Implementation[] = [
  {
    name: 'node-opcua',
    isMissing: false,
    start: () => OpcUaTestServer.start({ variables }),
    credentials: opcUaCredentials,
  },
  {
    name: 'asyncua',
    isMissing: isAsyncuaMissing,
    start: () => AsyncuaTestServer.start({ variables }),
  },
]

for (const { name: implementation, isMissing, start, credentials } of implementations) {
  describe.skipIf(isMissing)(`a subscriber of OPC UA, at ${implementation}`, () => {
    let server: OpcUaPeer
    let used = 0

    beforeAll(async () => {
      server = await start()
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
          ...(credentials && { credentials }),
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

    connectorContract({ peer: newPeer, unacknowledgedMax: 20, hasPositions: true, carries: 'rows' })
  })
}
