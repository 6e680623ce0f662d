import { afterAll, describe } from 'vitest'
import { connectorContract } from '../contracts/connector-contract.ts'
import { contractNeeds, sqlitePeer } from '../support/database-peers.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

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
  connectorContract({ peer: async () => sqlitePeer(newFolder()), ...contractNeeds })
})
