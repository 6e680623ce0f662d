import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/core/clock.ts'
import type { FileStore } from '../../src/files/store/file-store.ts'
import { openFileStore } from '../../src/files/store/open-file-store.ts'
import type { StateDatabase, StateWriter } from '../../src/storage/state/database.ts'
import { cidLike } from './cid-like.ts'

/** The store of files of a folder, as the service opens it. */
export async function folderStore(folder: string): Promise<FileStore> {
  const address = { kind: 'folder' } as const
  return await openFileStore({
    address,
    folder,
    clock: systemClock,
    spareBytes: 0,
    clearsLeftovers: true,
  })
}

/** Makes bytes a content of a store, under a name that only looks like their CID. */
export async function keptContent(store: FileStore, bytes: string): Promise<string> {
  const cid = cidLike(Buffer.from(bytes))
  const path = join(store.scratch, cid)
  writeFileSync(path, bytes)
  await store.keep([{ cid, path }])
  return cid
}

/** Lets the state know a content, which nothing of it names. */
export async function knownContent(
  state: StateDatabase,
  writer: StateWriter,
  row: { readonly cid: string; readonly size: number; readonly createdAt?: number },
): Promise<void> {
  const { cid, size, createdAt = 0 } = row
  const rest = { sha256: '', media_type: 'text/plain', profile: '', created_at: createdAt }
  await writer.commit(state.insertInto('contents').values({ cid, size, ...rest }))
}
