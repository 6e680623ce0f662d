import { readdirSync, rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { backUp } from '../support/backups.ts'
import { streamvault, streamvaultJson } from '../support/command-line.ts'
import { downloaded, storedAttachment } from '../support/kept-files.ts'
import { isObjectStoreMissing, ObjectStore } from '../support/object-store.ts'
import { startedServices } from '../support/started-services.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { attachmentAsItIs, attachmentOf } from '../support/uploads.ts'

const services = startedServices()

/** Makes an attachment, and uploads its file past the service. Resolves with both. */
async function storedInBucket(api: ApiClient, bytes: string) {
  const { id, presigned_url: url } = await attachmentOf(api)
  await fetch(url, { method: 'PUT', body: bytes })
  const fileOf = async () => (await attachmentAsItIs(api, id)).files[0]
  await expect.poll(fileOf).toBeDefined()
  return { id, cid: (await fileOf())?.cid ?? '' }
}

describe.skipIf(isObjectStoreMissing)('a backup of a service with files in a bucket', () => {
  let bucket: ObjectStore

  beforeAll(async () => {
    bucket = await ObjectStore.start()
  })

  afterAll(async () => {
    await bucket[Symbol.asyncDispose]()
  })

  function settings() {
    return { ...bucket.environment, STREAMVAULT_FILES_URL: bucket.address('files') }
  }

  test('has their list, and a restored service finds them there', async () => {
    using folder = new TemporaryFolder()
    const original = await services.start(services.newFolder(), settings())
    const api = new ApiClient(original.http)
    const { id } = await storedInBucket(api, 'stays in the bucket')
    const { to } = await backUp(api, folder.file('backup'))
    await original.end('SIGTERM')
    expect(readdirSync(to)).toContain('files.ndjson.zst')
    expect(readdirSync(to)).not.toContain('files.zst')

    await streamvaultJson(['backup', 'verify', '--from', to])
    const dataDir = folder.file('restored')
    const words = ['restore', '--from', to, '--data-dir', dataDir, '--verify']
    const { manifest } = await streamvaultJson<{ manifest: object }>(words, settings())
    expect(manifest).toMatchObject({ counts: { files: 1, fileBytes: 19 } })
    const restored = new ApiClient((await services.start(dataDir, settings())).http)
    const bytes = await downloaded(restored, `/attachments/${id}/content`)
    expect(bytes.toString()).toBe('stays in the bucket')
  })

  test('tells after a restore which of them the bucket does not have, if it is named', async () => {
    using folder = new TemporaryFolder()
    const original = await services.start(services.newFolder(), settings())
    const api = new ApiClient(original.http)
    await storedInBucket(api, 'there')
    const { cid } = await storedInBucket(api, 'soon gone')
    const { to } = await backUp(api, folder.file('backup'))
    await original.end('SIGTERM')
    rmSync(bucket.file(`files/content/${cid}`))

    const words = ['restore', '--from', to, '--verify', '--data-dir']
    const named = await streamvault([...words, folder.file('named')], settings())
    const unnamed = await streamvault([...words, folder.file('unnamed')])

    expect(named.code).toBe(1)
    expect(named.stderr).toContain(`in 1 places: content ${cid} is missing`)
    expect(unnamed.code).toBe(0)
    expect(unnamed.stderr).toContain('STREAMVAULT_FILES_URL')
  })

  test('is none of a service that has them in its folder', async () => {
    using folder = new TemporaryFolder()
    const api = new ApiClient((await services.start(services.newFolder())).http)
    await storedAttachment(api, 'in the folder')
    const { to } = await backUp(api, folder.file('backup'))

    const words = ['restore', '--from', to, '--data-dir', folder.file('restored')]
    const { code, stderr } = await streamvault(words, settings())

    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('without STREAMVAULT_FILES_URL'),
    })
    expect(readdirSync(folder.path)).toEqual(['backup'])
  })
})
