import { readFilesConfig } from '../../src/config/files.ts'
import { systemClock } from '../../src/core/clock.ts'
import { DomainError, messageOf } from '../../src/core/errors.ts'
import { openFileStore } from '../../src/files/store/open-file-store.ts'
import type { FileStoreDeed, FileStoreOutcome } from './file-store-process.ts'

const [, , folder = '', url = 'folder'] = process.argv

const { filesAddress: address } = readFilesConfig({
  text: (name, fallback) => (name === 'STREAMVAULT_FILES_URL' ? url : fallback),
  bytes: () => 1,
  problems: [],
})
const store = await openFileStore({
  address,
  folder,
  clock: systemClock,
  spareBytes: 0,
  clearsLeftovers: true,
})

const piece = Buffer.alloc(64 * 1024)

async function* zeros(bytes: number) {
  for (let left = bytes; left > 0; left -= piece.length) yield piece.subarray(0, left)
}

async function perform(deed: FileStoreDeed): Promise<void> {
  if (deed.what === 'stage') return await store.stage(deed.upload, zeros(deed.bytes))
  if (deed.what === 'check') return await store.check()
  if (deed.what === 'keep') {
    const { cid, from = await store.fetch(deed.upload, new AbortController().signal) } = deed
    return await store.keep([{ cid, path: from }])
  }
  let read = 0
  for await (const { length } of store.read(deed.cid)) read += length
  if (read !== deed.bytes) throw new Error(`${read} bytes were read`)
}

async function outcomeOf(deed: FileStoreDeed): Promise<FileStoreOutcome> {
  let failure: string | undefined
  try {
    await perform(deed)
  } catch (error) {
    failure = error instanceof DomainError ? error.code : messageOf(error)
  }
  return { failure, rssKiBMax: process.resourceUsage().maxRSS }
}

process.on('message', (deed: FileStoreDeed) => {
  void outcomeOf(deed).then((outcome) => process.send?.(outcome))
})
process.send?.('open')
