import { afterAll, describe } from 'vitest'
import { connectorContract } from '../contracts/connector-contract.ts'
import { serverPeer, sqlitePeer } from '../support/database-peers.ts'
import { isMariadbMissing, Mariadb } from '../support/mariadb.ts'
import { isPostgresMissing, Postgres } from '../support/postgres.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

/** Messages of one page, of 500 rows each. */
const needs = { unacknowledgedMax: 10, hasPositions: true, carries: 'rows' } as const

describe.skipIf(isPostgresMissing)('PostgreSQL that is asked', () => {
  let server: Postgres | undefined
  afterAll(async () => await server?.[Symbol.asyncDispose]())
  connectorContract({
    peer: async () => {
      server ??= await Postgres.start()
      return await serverPeer(server)
    },
    ...needs,
  })
})

describe.skipIf(isMariadbMissing)('MariaDB that is asked', () => {
  let server: Mariadb | undefined
  afterAll(async () => await server?.[Symbol.asyncDispose]())
  connectorContract({
    peer: async () => {
      server ??= await Mariadb.start()
      return await serverPeer(server)
    },
    ...needs,
  })
})

describe('SQLite that is asked', () => {
  const folders: TemporaryFolder[] = []
  const newFolder = () => {
    const folder = new TemporaryFolder()
    folders.push(folder)
    return folder
  }
  afterAll(() => {
    for (const folder of folders) folder[Symbol.dispose]()
  })
  connectorContract({ peer: async () => sqlitePeer(newFolder()), ...needs })
})
