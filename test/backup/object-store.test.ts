import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { backUp, beginBackup, endOfBackup } from '../support/backups.ts'
import { streamvault, streamvaultJson } from '../support/command-line.ts'
import { DistinctLoad } from '../support/distinct-load.ts'
import { isObjectStoreMissing, ObjectStore } from '../support/object-store.ts'
import { adminKey, adminSecret, type ServiceProcess } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const services = startedServices()

describe.skipIf(isObjectStoreMissing)('a backup in an object store', () => {
  let store: ObjectStore

  beforeAll(async () => {
    store = await ObjectStore.start()
  })

  afterAll(async () => {
    await store[Symbol.asyncDispose]()
  })

  async function start(allowed = true): Promise<ServiceProcess> {
    return await services.start(services.newFolder(), {
      ...store.environment,
      ...(allowed && { STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${store.port}` }),
    })
  }

  test('is whole, and a folder is made of it', async () => {
    using folder = new TemporaryFolder()
    const process = await start()
    const api = new ApiClient(process.http)
    const streamId = await api.createStream()
    await new DistinctLoad(api, streamId).send()
    const to = store.address('monday/')
    const words = ['backup', '--to', to, '--with-master-key', '--url', process.http]
    const credentials = { STREAMVAULT_ADMIN_KEY: adminKey, STREAMVAULT_ADMIN_SECRET: adminSecret }
    expect(await streamvaultJson(words, credentials)).toMatchObject({ status: 'completed', to })
    expect(readdirSync(store.file('monday'))).toContain('manifest.json')
    expect(existsSync(`${process.dataDir}/backup-staging`)).toBe(false)

    await streamvaultJson(['backup', 'verify', '--from', to], store.environment)
    const dataDir = folder.file('restored')
    const restoring = ['restore', '--from', to, '--data-dir', dataDir, '--verify']
    const restored = await streamvaultJson(restoring, store.environment)
    expect(restored).toMatchObject({ verified: true, manifest: { counts: { received: 20 } } })
  })

  test('is refused when one byte of it was changed', async () => {
    using folder = new TemporaryFolder()
    const process = await start()
    const to = store.address('changed')
    await backUp(new ApiClient(process.http), to)
    const path = store.file('changed/state.db.zst')
    const bytes = readFileSync(path)
    bytes[100] = (bytes[100] ?? 0) ^ 1
    writeFileSync(path, bytes)
    const words = ['restore', '--from', to, '--data-dir', folder.file('restored')]
    const { code, stderr } = await streamvault(words, store.environment)
    expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('state.db') })
    expect(readdirSync(folder.path)).toEqual([])
  })

  test('has a prefix of its own', async () => {
    const process = await start()
    const api = new ApiClient(process.http)
    await backUp(api, store.address('taken'))
    const { backupId } = await beginBackup(api, store.address('taken'))
    const { status, error } = await endOfBackup(api, backupId)
    expect({ status, error }).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('not empty'),
    })
    expect(readdirSync(store.file('taken'))).toContain('manifest.json')
  })

  test('is not made in a private network that the operator has not allowed', async () => {
    const api = new ApiClient((await start(false)).http)
    const { backupId } = await beginBackup(api, store.address('private'))
    expect(await endOfBackup(api, backupId)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('may not be connected to'),
    })
  })

  test('that finds no such bucket says where it was', async () => {
    const api = new ApiClient((await start()).http)
    const to = store.address('x').replace('s3://backups', 's3://no-such-bucket')
    const { error } = await endOfBackup(api, (await beginBackup(api, to)).backupId)
    expect(error).toMatch(/s3:\/\/no-such-bucket\/x\/.*NoSuchBucket/)
  })
})
