import { expect } from 'vitest'
import { type AttachmentId, newId } from '../../src/core/ids.ts'
import { uploadIdOf } from '../../src/files/uploads/upload-id.ts'
import { cidLike } from './cid-like.ts'
import type { FileStoreProcess } from './file-store-process.ts'

const largeBytes = 200 * 1024 * 1024
const smallBytes = 9 * 1024 * 1024

/** Stages, keeps and reads a small file, and a large one: MiB that the large one takes more. */
export async function memoryOfLargeFile(store: FileStoreProcess): Promise<number> {
  const [before, after] = [await memoryOf(store, smallBytes), await memoryOf(store, largeBytes)]
  return (after - before) / 1024
}

async function memoryOf(store: FileStoreProcess, bytes: number): Promise<number> {
  const upload = uploadIdOf({ purpose: 'attachment', resourceId: newId<AttachmentId>(), turn: 1 })
  const cid = cidLike(Buffer.from(upload))
  expect(await store.failureOf({ what: 'stage', upload, bytes })).toBeUndefined()
  expect(await store.failureOf({ what: 'keep', upload, cid })).toBeUndefined()
  const { failure, rssKiBMax } = await store.perform({ what: 'read', cid, bytes })
  expect(failure).toBeUndefined()
  return rssKiBMax
}
