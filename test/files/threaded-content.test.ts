import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { UploadForm } from '../../src/files/content/content.ts'
import { ThreadedContent } from '../../src/files/content/threaded-content.ts'
import type { FileStore } from '../../src/files/store/file-store.ts'
import { openFileStore } from '../../src/files/store/open-file-store.ts'
import { type UploadId, uploadIdOf } from '../../src/files/uploads/upload-id.ts'
import { kuboBytes } from '../support/kubo-bytes.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { zipArchive } from '../support/zip-archive.ts'

const mebibyte = 1024 * 1024
const limits = { bytesMax: 600 * mebibyte, unpackedBytesMax: 64 * mebibyte }
const named: UploadForm = { is: 'file', name: 'readings.csv' }
const png = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex')

describe('the thread of contents', () => {
  test('takes a file, which is a content then', async () => {
    await using service = await started()
    const upload = await service.stage(Buffer.from('hello world'))

    const taken = await service.content.take({ upload, form: named, limits })

    const cid = 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'
    expect(taken).toMatchObject({ cid, size: 11, files: [{ name: 'readings.csv', cid, size: 11 }] })
    expect(taken.files[0]).toMatchObject({ mediaType: 'text/csv' })
    expect(String(await service.read(cid))).toBe('hello world')
    expect(service.leftInScratch()).toEqual([])
  })

  test('takes an archive and an image', async () => {
    await using service = await started()
    const archive = await service.stage(zipArchive([{ name: 'a/b', content: 'hello world' }]))
    const image = await service.stage(png)

    expect(
      await service.content.take({ upload: archive, form: { is: 'archive' }, limits }),
    ).toMatchObject({ size: 11, files: [{ name: 'a/b' }] })
    expect(
      await service.content.take({ upload: image, form: { is: 'image' }, limits }),
    ).toMatchObject({
      files: [{ name: 'image.png', mediaType: 'image/png' }],
    })
    expect(service.leftInScratch()).toEqual([])
  })

  test.each<[string, UploadForm, object]>([
    [
      'file_rejected',
      { is: 'archive' },
      { message: expect.stringMatching(/no sound zip archive/) },
    ],
    ['file_rejected', { is: 'image' }, { message: expect.stringMatching(/PNG, JPEG, WebP/) }],
  ])('tells of %s in an upload that is no %o', async (code, form, also) => {
    await using service = await started()
    const upload = await service.stage(Buffer.from('a text'))

    await expect(service.content.take({ upload, form, limits })).rejects.toMatchObject({
      code,
      ...also,
    })
    expect(service.leftInScratch()).toEqual([])
  })

  test('tells of a file that is too large', async () => {
    await using service = await started()
    const upload = await service.stage(Buffer.from('a text'))
    const taking = service.content.take({ upload, form: named, limits: { ...limits, bytesMax: 5 } })

    await expect(taking).rejects.toMatchObject({ code: 'body_too_large' })
    expect(service.leftInScratch()).toEqual([])
  })

  test('takes the same upload again, and many at a time', async () => {
    await using service = await started()
    const upload = await service.stage(Buffer.from('hello world'))
    const request = { upload, form: named, limits }
    const first = await service.content.take(request)

    const all = await Promise.all(Array.from({ length: 20 }, () => service.content.take(request)))
    for (const taken of all) expect(taken).toEqual(first)
    expect(service.leftInScratch()).toEqual([])
  })

  test('is started anew for the next upload when it has ended in the middle of one', async () => {
    await using service = await started()
    const large = await service.stageAll(kuboBytes(512 * mebibyte, 'a'))
    const upload = await service.stage(Buffer.from('hello world'))
    const taking = service.content.take({ upload: large, form: named, limits })
    const ended = expect(taking).rejects.toThrow(/thread has ended/)
    await expect.poll(() => service.leftInScratch().length).toBeGreaterThan(0)

    await service.content.close()

    await ended
    expect(await service.content.take({ upload, form: named, limits })).toMatchObject({ size: 11 })
    expect(await service.content.take({ upload: large, form: named, limits })).toMatchObject({
      size: 512 * mebibyte,
    })
    expect(service.failures).toEqual([])
  })
})

interface Started extends AsyncDisposable {
  readonly content: ThreadedContent
  readonly failures: unknown[]
  stage(bytes: Uint8Array): Promise<UploadId>
  stageAll(bytes: AsyncIterable<Uint8Array>): Promise<UploadId>
  read(cid: string): Promise<Buffer>
  /** Files, and no folders. */
  leftInScratch(): readonly string[]
}

/** The thread over a store in a folder, which this thread has as well. */
async function started(): Promise<Started> {
  const folder = new TemporaryFolder()
  const data = { address: { kind: 'folder' }, folder: folder.file('files') } as const
  const store: FileStore = await openFileStore({
    ...data,
    clock: systemClock,
    clearsLeftovers: true,
  })
  const failures: unknown[] = []
  const content = new ThreadedContent(data, (error) => failures.push(error))
  let turn = 0
  const stageAll = async (bytes: AsyncIterable<Uint8Array>): Promise<UploadId> => {
    const resourceId = '00000000-0000-4000-8000-000000000000'
    const upload = uploadIdOf({ purpose: 'attachment', resourceId, turn: ++turn })
    await store.stage(upload, bytes)
    return upload
  }
  return {
    content,
    failures,
    stageAll,
    stage: (bytes) => stageAll(one(bytes)),
    read: async (cid) => Buffer.concat(await Array.fromAsync(store.read(cid))),
    leftInScratch() {
      const entries = readdirSync(store.scratch, { recursive: true, withFileTypes: true })
      return entries.filter((entry) => entry.isFile()).map(({ name }) => name)
    },
    async [Symbol.asyncDispose]() {
      await content.close()
      await store.close()
      folder[Symbol.dispose]()
    },
  }
}

async function* one(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}
