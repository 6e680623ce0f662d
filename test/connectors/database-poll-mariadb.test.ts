import { afterAll, describe } from 'vitest'
import { connectorContract } from '../contracts/connector-contract.ts'
import { contractNeeds, serverPeer } from '../support/database-peers.ts'
import { isMariadbMissing, Mariadb } from '../support/mariadb.ts'

describe.skipIf(isMariadbMissing)('MariaDB that is asked', () => {
  let server: Mariadb | undefined
  afterAll(async () => await server?.[Symbol.asyncDispose]())
  connectorContract({
    peer: async () => {
      server ??= await Mariadb.start()
      return await serverPeer(server)
    },
    ...contractNeeds,
  })
})
