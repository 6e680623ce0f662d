import { describe } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { openFileStore } from '../../src/files/store/open-file-store.ts'
import { fileStoreContract } from '../contracts/file-store-contract.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

describe('files in a folder', () => {
  fileStoreContract(async () => {
    const folder = new TemporaryFolder()
    const reopen = async (clearsLeftovers: boolean) =>
      await openFileStore({
        address: { kind: 'folder' },
        folder: folder.file('files'),
        clock: systemClock,
        clearsLeftovers,
      })
    const store = await reopen(true)
    return {
      store,
      reopen,
      async [Symbol.asyncDispose]() {
        await store.close()
        folder[Symbol.dispose]()
      },
    }
  })
})
