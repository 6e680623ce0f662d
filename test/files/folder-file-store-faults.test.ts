import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AttachmentId, newId } from '../../src/core/ids.ts'
import { type UploadId, uploadIdOf } from '../../src/files/uploads/upload-id.ts'
import { cidLike } from '../support/cid-like.ts'
import { FaultInjection } from '../support/fault-injection.ts'
import { FileStoreProcess } from '../support/file-store-process.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
const faults = new FaultInjection()
const files = folder.file('files')
let store: FileStoreProcess
let upload: UploadId

/** Another file system than that of temporary folders. */
const otherDisk = '/dev/shm'
const hasOtherDisk = existsSync(otherDisk) && statSync(otherDisk).dev !== statSync(folder.path).dev

beforeAll(async () => {
  store = await FileStoreProcess.start(files, faults.environment)
})

beforeEach(() => {
  faults.end()
  for (const path of filesThere()) rmSync(path)
  upload = uploadIdOf({ purpose: 'attachment', resourceId: newId<AttachmentId>(), turn: 1 })
})

afterAll(async () => {
  await store[Symbol.asyncDispose]()
  faults[Symbol.dispose]()
  folder[Symbol.dispose]()
})

/** Paths of all files there are. */
function filesThere(): readonly string[] {
  return readdirSync(files, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name))
}

describe('a disk', () => {
  test.each([
    ['has no space', 'enospc', 0, 'disk_full'],
    ['has no space for the rest', 'enospc', 40, 'disk_full'],
    ['cannot sync a portion', 'eio', 1, 'EIO: i/o error, fdatasync'],
    ['cannot sync the whole', 'eio', 3, 'EIO: i/o error, fsync'],
    ['cannot sync the name', 'eio', 4, 'EIO: i/o error, fsync'],
  ] as const)('that %s for what arrives leaves nothing of it', async (_, fault, calls, failure) => {
    const deed = { what: 'stage', upload, bytes: 3 * 1024 * 1024 + 1 } as const
    faults.begin(fault, 'files/staged', calls)
    expect(await store.failureOf(deed)).toBe(failure)
    expect(faults.isMet).toBe(true)
    expect(filesThere()).toEqual([])
    faults.end()
    expect(await store.failureOf(deed)).toBeUndefined()
    const cid = cidLike(Buffer.from(upload))
    expect(await store.failureOf({ what: 'keep', upload, cid })).toBeUndefined()
    expect(
      filesThere()
        .map((path) => basename(path))
        .toSorted(),
    ).toEqual([upload, cid].toSorted())
  })

  test.each([
    ['a content', 'files/scratch', 0],
    ['the name of a content', 'files/content', 0],
  ])('that cannot sync %s keeps none that is not durable', async (_, path, calls) => {
    await store.perform({ what: 'stage', upload, bytes: 5 })
    const keep = { what: 'keep', upload, cid: cidLike(Buffer.from(upload)) } as const
    faults.begin('eio', path, calls)
    expect(await store.failureOf(keep)).toBe('EIO: i/o error, fsync')
    expect(readdirSync(join(files, 'scratch', upload))).toEqual([])
    faults.end()
    expect(await store.failureOf(keep)).toBeUndefined()
    expect(await store.failureOf({ what: 'read', cid: keep.cid, bytes: 5 })).toBeUndefined()
  })

  test.skipIf(!hasOtherDisk)(
    'that has no space for a file of another one leaves it there',
    async () => {
      using other = new TemporaryFolder(otherDisk)
      const from = other.file('unpacked')
      writeFileSync(from, 'bytes')
      const keep = { what: 'keep', upload, cid: cidLike(Buffer.from(upload)), from } as const
      faults.begin('enospc', 'files/staged')
      expect(await store.failureOf(keep)).toBe('disk_full')
      expect([existsSync(from), filesThere()]).toEqual([true, []])
      faults.end()
      expect(await store.failureOf(keep)).toBeUndefined()
      expect([existsSync(from), filesThere()]).toEqual([false, [expect.stringContaining(keep.cid)]])
      expect(await store.failureOf({ what: 'read', cid: keep.cid, bytes: 5 })).toBeUndefined()
    },
  )

  test('that is full, or that fails, is found by a check', async () => {
    faults.begin('enospc', 'files/scratch')
    expect(await store.failureOf({ what: 'check' })).toBe('disk_full')
    faults.begin('eio', 'files/scratch')
    expect(await store.failureOf({ what: 'check' })).toBe('EIO: i/o error, fsync')
    faults.end()
    expect(await store.failureOf({ what: 'check' })).toBeUndefined()
    expect(filesThere()).toEqual([])
  })
})
