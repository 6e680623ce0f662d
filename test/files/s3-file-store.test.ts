import { execFile } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { inspect, promisify } from 'node:util'
import {
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { DomainError } from '../../src/core/errors.ts'
import { type AttachmentId, newId } from '../../src/core/ids.ts'
import { parseS3Address } from '../../src/egress/object-store/s3-address.ts'
import { openFileStore } from '../../src/files/store/open-file-store.ts'
import { type UploadId, uploadIdOf } from '../../src/files/uploads/upload-id.ts'
import { fileStoreContract, type TestedFileStore } from '../contracts/file-store-contract.ts'
import { cidLike } from '../support/cid-like.ts'
import { FaultInjection } from '../support/fault-injection.ts'
import { memoryOfLargeFile } from '../support/file-store-memory.ts'
import { FileStoreProcess } from '../support/file-store-process.ts'
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

  function newAddress(): string {
    return objects.address(`plant ${prefixes++}/ä`)
  }

  async function open(url = newAddress(), clock: Clock = systemClock): Promise<TestedFileStore> {
    const folder = new TemporaryFolder()
    const reopen = async (clearsLeftovers: boolean) =>
      await openFileStore({
        address: parseS3Address(url, 'to'),
        folder: folder.file('files'),
        clock,
        spareBytes: 0,
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

  async function signed(expiresAtMs = inAQuarterOfAnHour()) {
    const tested = await open()
    const upload = newUpload()
    const url = (await tested.store.uploadUrl?.(upload, expiresAtMs)) ?? ''
    return Object.assign(tested, { upload, url })
  }

  fileStoreContract(() => open())

  test('are what is theirs: what else is in the bucket is none', async () => {
    const url = newAddress()
    await using tested = await open(url)
    const upload = newUpload()
    await tested.store.stage(upload, Readable.from([Buffer.from('bytes')]))
    await using outer = await open(url.replace('/%C3%A4', '').replace('/ä', ''))
    expect(await Array.fromAsync(outer.store.staged())).toEqual([])
    const [, key = ''] = /s3:\/\/files\/(.*)\?/.exec(url) ?? []
    writeFileSync(objects.file(`${key}/staged/notes`), 'bytes')
    expect(await Array.fromAsync(tested.store.staged())).toEqual([{ upload, bytes: 5 }])
  })

  test.each([
    ['goes after a day', 25, 0],
    ['stays for a day', 23, 1],
  ])('what was cut off in the middle of its parts %s', async (_, hours, left) => {
    const url = newAddress()
    const { bucket: Bucket, prefix, endpoint = '' } = parseS3Address(url, 'to')
    const client = new S3Client({ region: 'us-east-1', endpoint, forcePathStyle: true })
    const Key = `${prefix}content/x`
    await client.send(new CreateMultipartUploadCommand({ Bucket, Key }))
    const later: Clock = { nowUs: () => systemClock.nowUs() + hours * 3_600_000_000 }
    await using tested = await open(url, later)
    await tested.store.stage(newUpload(), Readable.from([Buffer.from('bytes')]))
    const list = new ListMultipartUploadsCommand({ Bucket, Prefix: prefix })
    expect((await client.send(list)).Uploads ?? []).toHaveLength(left)
    client.destroy()
  })

  test('take no more memory when they are large', async () => {
    using folder = new TemporaryFolder()
    const { environment } = objects
    const url = newAddress()
    await using store = await FileStoreProcess.start(folder.file('files'), environment, url)
    expect(await memoryOfLargeFile(store)).toBeLessThan(80)
  })

  test('leave no copy where there is no space for it', async () => {
    using folder = new TemporaryFolder()
    using faults = new FaultInjection()
    const environment = { ...objects.environment, ...faults.environment }
    const files = folder.file('files')
    await using store = await FileStoreProcess.start(files, environment, newAddress())
    const upload = newUpload()
    const keep = { what: 'keep', upload, cid: cidLike(Buffer.from(upload)) } as const
    await store.perform({ what: 'stage', upload, bytes: 5 })
    faults.begin('enospc', 'files/scratch')
    expect(await store.failureOf(keep)).toBe('disk_full')
    expect(readdirSync(folder.file(`files/scratch/${upload}`))).toEqual([])
    faults.end()
    expect(await store.failureOf(keep)).toBeUndefined()
  })

  describe('a signed address', () => {
    test('takes a file from curl, which knows nothing else, and the last one stays', async () => {
      await using tested = await signed()
      const { store, upload, url } = tested
      expect(new URL(url).searchParams.get('X-Amz-SignedHeaders')).toBe('host')
      for (const text of ['first', 'a second one']) expect(await curl(text, url)).toBe(200)
      expect(await Array.fromAsync(store.staged())).toEqual([{ upload, bytes: 12 }])
      const path = await store.fetch(upload, new AbortController().signal)
      expect(readFileSync(path, 'utf8')).toBe('a second one')
    })

    test.each([
      ['path', (url: string) => url.replace(/(staged\/[^?]*)1\?/, '$12?')],
      ['kind', (url: string) => url.replace('/staged/', '/content/')],
      ['time of its end', (url: string) => url.replace(/(X-Amz-Expires=)\d+/, '$1604800')],
      ['time of its making', (url: string) => url.replace(/(X-Amz-Date=\d{3})\d/, '$19')],
      ['signature', (url: string) => url.replace(/(X-Amz-Signature=)[0-9a-f]{8}/, '$100000000')],
      ['credential', (url: string) => url.replace('X-Amz-Credential=tester', 'X-Amz-Credential=t')],
      ['query', (url: string) => `${url}&partNumber=1&uploadId=1`],
    ])('is refused with another %s', async (_, change) => {
      await using tested = await signed()
      const { store, url } = tested
      expect(change(url)).not.toBe(url)
      expect(refusals).toContain(await curl('bytes', change(url)))
      expect(await Array.fromAsync(store.staged())).toEqual([])
      expect(await Array.fromAsync(store.contents())).toEqual([])
      expect(await curl('bytes', url)).toBe(200)
    })

    test.each(['GET', 'HEAD', 'POST', 'DELETE'])('is refused for %s', async (method) => {
      await using tested = await signed()
      const { store, upload, url } = tested
      expect(await curl('bytes', url)).toBe(200)
      const { status } = await fetch(url, { method })
      expect(refusals).toContain(status)
      expect(await Array.fromAsync(store.staged())).toEqual([{ upload, bytes: 5 }])
    })

    test('is refused from its end on', async () => {
      await using tested = await signed(systemClock.nowUs() / 1_000 + 1_000)
      const { upload, url, store } = tested
      await expect.poll(async () => await curl('too late', url), { interval: 200 }).toBe(403)
      await store.discard(upload)
      expect(await curl('too late', url)).toBe(403)
      expect(await Array.fromAsync(store.staged())).toEqual([])
    })

    test('ends no later than it is to', async () => {
      await using tested = await open()
      const [signedAtMs, endMs] = [systemClock.nowUs() / 1_000, inAQuarterOfAnHour()]
      const url = new URL((await tested.store.uploadUrl?.(newUpload(), endMs)) ?? '')
      const [day = '', time = ''] = url.searchParams.get('X-Amz-Date')?.split('T') ?? []
      const date = day.replace(/(....)(..)(..)/, '$1-$2-$3')
      const madeMs = Date.parse(`${date}T${time.replace(/(..)(..)(..)Z/, '$1:$2:$3Z')}`)
      const lastMs = madeMs + Number(url.searchParams.get('X-Amz-Expires')) * 1_000
      expect(madeMs).toBeGreaterThan(signedAtMs - 1_000)
      expect(lastMs).toBeLessThanOrEqual(endMs)
      expect(lastMs).toBeGreaterThan(endMs - 1_000)
    })
  })

  describe('a bucket that', () => {
    test('does not answer is unavailable, and well once it does', async () => {
      await using silent = await ObjectStore.start('files')
      await using tested = await open(silent.address('x'))
      const upload = newUpload()
      await tested.store.stage(upload, Readable.from([Buffer.from('bytes')]))
      await silent.stop()
      const failing = { code: 'store_unavailable', retryAfter: 5 }
      await expect(tested.store.check()).rejects.toMatchObject(failing)
      const { signal } = new AbortController()
      await expect(tested.store.fetch(upload, signal)).rejects.toMatchObject(failing)
      await expect(Array.fromAsync(tested.store.staged())).rejects.toMatchObject(failing)
      expect(await tested.store.uploadUrl?.(upload, inAQuarterOfAnHour())).toContain(upload)
      await silent.resume()
      expect(await Array.fromAsync(tested.store.staged())).toEqual([{ upload, bytes: 5 }])
    })

    test('is not there is a failure that says so, and does not pass by itself', async () => {
      await using tested = await open(newAddress().replace('s3://files', 's3://no-such-bucket'))
      const failure = await tested.store.check().catch((error: unknown) => error)
      expect(failure).not.toBeInstanceOf(DomainError)
      expect(String(failure)).toMatch(/s3:\/\/no-such-bucket\/.*NoSuchBucket/)
      await expect(Array.fromAsync(tested.store.contents())).rejects.toThrow('NoSuchBucket')
    })

    test('knows other credentials is a failure without any', async () => {
      await using tested = await open()
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'hunter2')
      const failure = await tested.store.check().catch((error: unknown) => error)
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', objects.environment.AWS_SECRET_ACCESS_KEY)
      expect(failure).not.toBeInstanceOf(DomainError)
      expect(String(failure)).toContain('SignatureDoesNotMatch')
      expect(inspect(failure, { depth: 10 })).not.toContain('hunter2')
    })
  })
})

const inAQuarterOfAnHour = () => systemClock.nowUs() / 1_000 + 900_000

function newUpload(): UploadId {
  return uploadIdOf({ purpose: 'attachment', resourceId: newId<AttachmentId>(), turn: 1 })
}

/** What such servers answer to what is not signed, each in its own way. */
const refusals = [400, 403, 404, 405]

/** The status that `curl -T FILE URL` gets. */
async function curl(text: string, url: string): Promise<number> {
  using folder = new TemporaryFolder()
  writeFileSync(folder.file('file'), text)
  const words = ['-sS', '-o', '/dev/null', '-w', '%{http_code}', '-T', folder.file('file'), url]
  const { stdout } = await promisify(execFile)('curl', words)
  return Number(stdout)
}
