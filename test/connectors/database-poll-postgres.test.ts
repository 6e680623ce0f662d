import { afterAll, describe } from 'vitest'
import { connectorContract } from '../contracts/connector-contract.ts'
import { contractNeeds, serverPeer } from '../support/database-peers.ts'
import { isPostgresMissing, Postgres } from '../support/postgres.ts'

describe.skipIf(isPostgresMissing)('PostgreSQL that is asked', () => {
  let server: Postgres | undefined
  afterAll(async () => await server?.[Symbol.asyncDispose]())
  connectorContract({
    peer: async () => {
      server ??= await Postgres.start()
      return await serverPeer(server)
    },
    ...contractNeeds,
  })
})
