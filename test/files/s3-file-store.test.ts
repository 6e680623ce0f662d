import { afterAll, beforeAll, describe, vi } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { parseS3Address } from '../../src/egress/object-store/s3-address.ts'
import { openFileStore } from '../../src/files/store/open-file-store.ts'
import { fileStoreContract, type TestedFileStore } from '../contracts/file-store-contract.ts'
import { isObjectStoreMissing, ObjectStore } from '../support/object-store.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

describe.skipIf(isObjectStoreMissing)('files in a bucket', () => {
  let objects: ObjectStore
  let prefixes = 0

  beforeAll(async () => {
    objects = await ObjectStore.start('files')
    for (const [name, value] of Object.entries(objects.environment)) vi.stubEnv(name, value)
  })

  afterAll(async () => {
    await objects[Symbol.asyncDispose]()
    vi.unstubAllEnvs()
  })

  async function open(): Promise<TestedFileStore> {
    const folder = new TemporaryFolder()
    const address = parseS3Address(objects.address(`plant ${prefixes++}/ä`), 'to')
    const reopen = async (clearsLeftovers: boolean) =>
      await openFileStore({
        address,
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
  }

  fileStoreContract(open)
})
