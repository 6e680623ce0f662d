import { afterEach, describe } from 'vitest'
import { postgresLog } from '../../connectors/postgres-log/postgres-log.ts'
import { connectorContract, type FetchedPeer } from '../contracts/connector-contract.ts'
import { FollowedTable } from '../support/followed-table.ts'
import { isPostgresMissing, Postgres } from '../support/postgres.ts'

const servers: Postgres[] = []

afterEach(async () => {
  for (const server of servers.splice(0)) await server[Symbol.asyncDispose]()
})

async function newPeer(): Promise<FetchedPeer> {
  const server = await Postgres.start()
  servers.push(server)
  const table = await FollowedTable.create(server)
  return {
    connector: postgresLog,
    source: table.source,
    ports: [server.port],
    publish: (payloads) => table.publish(payloads),
    stop: () => server.stop(),
    start: () => server.start(),
  }
}

describe.skipIf(isPostgresMissing)('a follower of the log of PostgreSQL', () => {
  connectorContract({
    peer: newPeer,
    unacknowledgedMax: 40,
    hasPositions: true,
    carries: 'rows',
  })
})
