import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { revoke, share } from '../support/granted.ts'
import { isObjectStoreMissing, ObjectStore } from '../support/object-store.ts'
import { newPerson } from '../support/people.ts'
import { newDataDir, type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { assetStreamOf, attachmentAsItIs, attachmentOf, upload } from '../support/uploads.ts'

const bytesMax = 1024 * 1024

describe.skipIf(isObjectStoreMissing)('files in a bucket', () => {
  let bucket: ObjectStore
  let process: ServiceProcess
  let api: ApiClient
  const folder = new TemporaryFolder()

  beforeAll(async () => {
    bucket = await ObjectStore.start()
    process = await startServiceProcess(newDataDir(), {
      ...bucket.environment,
      STREAMVAULT_FILES_URL: bucket.address('files'),
      STREAMVAULT_UPLOAD_MAX: String(bytesMax),
    })
    api = new ApiClient(process.http)
  })

  afterAll(async () => {
    await process.end('SIGTERM')
    rmSync(process.dataDir, { recursive: true })
    await bucket[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  /** As anybody would: with curl, and nothing but the address. Resolves with the status. */
  function put(url: string, bytes: string | Uint8Array): number {
    const path = folder.file('upload')
    writeFileSync(path, bytes)
    const words = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '-T', path, url]
    return Number(execFileSync('curl', words).toString())
  }

  function objectsIn(prefix: string): readonly string[] {
    const path = bucket.file(`files/${prefix}`)
    return existsSync(path) ? readdirSync(path) : []
  }

  test('come through the service where a permission lets somebody bring them, until it ends', async () => {
    const owner = await newPerson(api)
    const holder = await newPerson(api)
    const stream_id = await assetStreamOf(owner)
    const shared = { kind: 'streams', id: stream_id } as const
    const permission = await share(owner, holder, shared, 'WRITE')
    const first = await attachmentOf(holder, { stream_id })
    const second = await attachmentOf(holder, { stream_id })

    const taken = await upload(api, first.presigned_url, 'hello')
    await revoke(owner, permission)
    const refused = await upload(api, second.presigned_url, 'hello')

    expect(first.presigned_url).not.toContain(`:${bucket.port}`)
    expect([taken.status, refused.status]).toEqual([200, 403])
    expect(await attachmentAsItIs(owner, first.id)).toMatchObject({ size: 5 })
    expect(objectsIn('staged').filter((name) => name.includes(holder.userId))).toEqual([])
  })

  test('come past the service, and are had through it', async () => {
    const { id, presigned_url: url } = await attachmentOf(api, { filename: 'hello.txt' })

    const status = put(url, 'hello world')

    expect(status).toBe(200)
    expect(new URL(url).port).toBe(String(bucket.port))
    const statusOf = async () => (await attachmentAsItIs(api, id)).status
    await expect.poll(statusOf).toBe('METADATA_STORED')
    const { files } = await attachmentAsItIs(api, id)
    const cid = 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'
    expect(files).toMatchObject([{ name: 'hello.txt', cid, size: 11 }])
    expect(objectsIn('content')).toContain(cid)
    const authorization = `Bearer ${await api.token()}`
    const answer = await fetch(`${api.base}/attachments/${id}/content`, {
      headers: { authorization, range: 'bytes=6-' },
    })
    expect([answer.status, await answer.text()]).toEqual([206, 'world'])
  })

  test('that come once more are never looked at, and go', async () => {
    const { id, presigned_url: url } = await attachmentOf(api)
    put(url, 'first')
    const statusOf = async () => (await attachmentAsItIs(api, id)).status
    await expect.poll(statusOf).toBe('METADATA_STORED')

    put(url, 'second, and longer')

    await expect.poll(() => objectsIn('staged')).toEqual([])
    expect((await attachmentAsItIs(api, id)).size).toBe(5)
  })

  test.each([
    ['too large', {}, Buffer.alloc(bytesMax + 1), 'body_too_large'],
    ['no archive', { upload_as_zip: true }, Buffer.from('no archive'), 'file_rejected'],
  ])('that are %s end their attachment, which says so', async (_, wanted, bytes, error) => {
    const { id, presigned_url: url } = await attachmentOf(api, wanted)

    put(url, bytes)

    const statusOf = async () => (await attachmentAsItIs(api, id)).status
    await expect.poll(statusOf).toBe('FAILED')
    const { failure, presigned_url: left } = await attachmentAsItIs(api, id)
    expect(failure).toMatchObject({ error })
    expect(left).toBe('')
    await expect.poll(() => objectsIn('staged')).toEqual([])
  })

  test('are gone from it with what they belong to', async () => {
    const { id, presigned_url: url } = await attachmentOf(api)
    put(url, 'soon gone')
    const statusOf = async () => (await attachmentAsItIs(api, id)).status
    await expect.poll(statusOf).toBe('METADATA_STORED')
    const { files } = await attachmentAsItIs(api, id)
    const cid = files[0]?.cid ?? ''
    expect(objectsIn('content')).toContain(cid)

    await api.withKey('DELETE', `/attachments/${id}`)

    await expect.poll(() => objectsIn('content')).not.toContain(cid)
  })

  test('cannot be had while it does not answer, and the answer says so', async () => {
    const { id, presigned_url: url } = await attachmentOf(api)
    put(url, 'hello world')
    const statusOf = async () => (await attachmentAsItIs(api, id)).status
    await expect.poll(statusOf).toBe('METADATA_STORED')
    const path = `/attachments/${id}/content`

    await bucket.stop()
    const { status, headers, body } = await api.withKey('GET', path)
    await bucket.resume()

    expect([status, body]).toMatchObject([503, { error: 'store_unavailable' }])
    expect(JSON.stringify(body)).not.toContain('s3:')
    expect(headers.get('etag')).toBeNull()
    expect((await api.withKey('GET', path)).status).toBe(200)
  })

  test('have one address for a while, because signing takes time', async () => {
    const { id, presigned_url: url } = await attachmentOf(api)

    expect((await attachmentAsItIs(api, id)).presigned_url).toBe(url)
  })
})
