import { rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { examine } from '../support/examination.ts'
import { folderStore, keptContent } from '../support/folder-store.ts'
import { contentIn, storedAttachment } from '../support/kept-files.ts'
import { isObjectStoreMissing, ObjectStore } from '../support/object-store.ts'
import { startedServices } from '../support/started-services.ts'
import { attachmentAsItIs, attachmentOf } from '../support/uploads.ts'

const { newFolder, start } = startedServices()

/** A data folder with these files, each of an attachment; the service has ended. */
async function folderWith(files: readonly string[]) {
  const dataDir = newFolder()
  const service = await start(dataDir)
  const api = new ApiClient(service.http)
  const cids: string[] = []
  for (const file of files) cids.push((await storedAttachment(api, file)).files[0]?.cid ?? '')
  await service.end('SIGTERM')
  return { dataDir, cids }
}

describe('the doctor', () => {
  test('finds files of users that are missing, or have another size', async () => {
    const { dataDir, cids } = await folderWith(['whole', 'missing', 'longer'])
    const [, missing = '', longer = ''] = cids
    rmSync(contentIn(dataDir, missing))
    writeFileSync(contentIn(dataDir, longer), 'longer than it was')

    const { code, check } = await examine(dataDir)

    expect(code).toBe(1)
    const { status, message, advice } = check('files') ?? {}
    expect(status).toBe('fail')
    expect(message).toContain('of 3 (18 bytes) 2 are lost: ')
    expect(message).toContain(missing)
    expect(message).toContain(`${longer} (18 bytes instead of 6)`)
    expect(message).not.toContain(cids[0])
    expect(advice).toContain('backup')
  })

  test('only remarks on what is in no use', async () => {
    const { dataDir } = await folderWith(['whole'])
    await keptContent(await folderStore(`${dataDir}/files`), 'left')

    const { code, check } = await examine(dataDir)

    expect(code).toBe(0)
    expect(check('files')).toMatchObject({
      status: 'ok',
      message:
        '1 (5 bytes) are there; 1 more (4 bytes) are of no resource: the next start removes them',
    })
  })

  test('blames no files beside a running service', async () => {
    const dataDir = newFolder()
    const api = new ApiClient((await start(dataDir)).http)
    await storedAttachment(api, 'whole')
    await attachmentOf(api)

    const { check } = await examine(dataDir)

    expect(check('files')).toMatchObject({ status: 'ok', message: '1 (5 bytes) are there' })
  })
})

describe.skipIf(isObjectStoreMissing)('with files in a bucket, the doctor', () => {
  test('finds those that the bucket does not have', async () => {
    await using bucket = await ObjectStore.start()
    const dataDir = newFolder()
    const settings = { ...bucket.environment, STREAMVAULT_FILES_URL: bucket.address('files') }
    const api = new ApiClient((await start(dataDir, settings)).http)
    const { id, presigned_url: url } = await attachmentOf(api)
    await fetch(url, { method: 'PUT', body: 'in a bucket' })
    const fileOf = async () => (await attachmentAsItIs(api, id)).files[0]
    await expect.poll(fileOf).toBeDefined()
    const { cid = '' } = (await fileOf()) ?? {}
    const { check: before } = await examine(dataDir, settings)
    expect(before('files')).toMatchObject({ status: 'ok', message: '1 (11 bytes) are there' })

    rmSync(bucket.file(`files/content/${cid}`))
    const { check } = await examine(dataDir, settings)

    expect(check('files')).toMatchObject({
      status: 'fail',
      message: `of 1 (11 bytes) 1 are lost: ${cid}`,
    })
  })

  test('says that the bucket cannot be asked', async () => {
    const { dataDir } = await folderWith([])
    const address = 's3://files?endpoint=http://127.0.0.1:1'
    const credentials = { AWS_ACCESS_KEY_ID: 'nobody', AWS_SECRET_ACCESS_KEY: 'hush-hush' }

    const { code, check } = await examine(dataDir, {
      ...credentials,
      STREAMVAULT_FILES_URL: address,
    })

    expect(code).toBe(1)
    expect(check('files')).toMatchObject({ status: 'fail' })
    expect(check('files')?.advice).toContain('STREAMVAULT_FILES_URL')
    expect(JSON.stringify(check('files'))).not.toContain('hush-hush')
  })
})
