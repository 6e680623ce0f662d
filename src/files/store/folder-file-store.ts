import { randomUUID } from 'node:crypto'
import { existsSync, fchmodSync, fstatSync } from 'node:fs'
import { link, mkdir, open, opendir, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileStream } from '../../core/heard-streams.ts'
import { someAtOnce } from './at-once.ts'
import { contentFolder, contentPath, isCid, noSuchContent, nothingArrived } from './content-name.ts'
import { asDiskFull, errorCodeOf, syncFolder, writeInPortions } from './durable-file.ts'
import type { ByteRange, FileStore, LocalFile, StagedUpload } from './file-store.ts'
import { LeavingFiles } from './leaving-files.ts'
import { Scratch } from './scratch.ts'
import { parseUploadId, type UploadId } from './upload-id.ts'

/**
 * Syncs at a time: one covers what others have written meanwhile, so eight take half of the
 * time. More would make the store of readings wait, whose work is done on the same few threads.
 */
const syncsAtOnce = 8

/** Bytes that are read at a time. */
const pieceBytes = 256 * 1024

/** The ending of what has not arrived as a whole. */
const partEnding = '.part'

/** What a file system answers that has no second name for a file. */
const withoutLinks = ['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EACCES']

export interface FolderStoreNeeds {
  readonly folder: string
  readonly spareBytes: number
  /** Whether what a crash has left is removed: nobody else may have the folder then. */
  readonly clearsLeftovers: boolean
}

export async function openFolderStore(needs: FolderStoreNeeds): Promise<FileStore> {
  const store = new FolderFileStore(needs)
  await store.prepare()
  if (needs.clearsLeftovers) await store.clear()
  return store
}

/**
 * Files in a folder of this machine. A file gets its name when all of it is on disk, and is never
 * written to from then on, so another name for it is as good as a copy.
 */
class FolderFileStore implements FileStore {
  readonly kind = 'folder'
  readonly uploadUrl = undefined
  readonly #needs: FolderStoreNeeds
  readonly #scratch: Scratch
  readonly #leaving: LeavingFiles

  constructor(needs: FolderStoreNeeds) {
    this.#needs = needs
    this.#scratch = new Scratch(join(needs.folder, 'scratch'))
    this.#leaving = new LeavingFiles(this.#staged(), partEnding)
  }

  get scratch(): string {
    return this.#scratch.path
  }

  async prepare(): Promise<void> {
    const { folder } = this.#needs
    for (const path of [folder, this.#staged(), this.#contents()]) {
      await mkdir(path, { recursive: true, mode: 0o700 })
    }
    await this.#scratch.prepare()
    await syncFolder(dirname(folder))
    await syncFolder(folder)
  }

  /** Removes what a crash has left. */
  async clear(): Promise<void> {
    await this.#scratch.empty()
    for await (const { name } of await opendir(this.#staged())) {
      if (name.endsWith(partEnding)) await rm(this.#staged(name), { force: true })
    }
  }

  async stage(upload: UploadId, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const part = this.#newPart()
    await writeInPortions(part, bytes, {
      spareBytes: this.#needs.spareBytes,
      remove: (path) => this.#leaving.remove(path),
    })
    try {
      await rename(part, this.#staged(upload))
    } catch (error) {
      await rm(part, { force: true })
      throw asDiskFull(error)
    }
    try {
      await syncFolder(this.#staged())
    } catch (error) {
      await rm(this.#staged(upload), { force: true })
      throw asDiskFull(error)
    }
  }

  async *staged(): AsyncGenerator<StagedUpload> {
    for await (const { name } of await opendir(this.#staged())) {
      const upload = parseUploadId(name)?.id
      const bytes = upload && (await bytesOf(this.#staged(upload)))
      if (upload !== undefined && bytes !== undefined) yield { upload, bytes }
    }
  }

  async fetch(upload: UploadId, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const path = await this.#scratch.pathFor(upload)
    try {
      await this.#copy(this.#staged(upload), path)
    } catch (error) {
      throw errorCodeOf(error) === 'ENOENT' ? nothingArrived(upload, error) : asDiskFull(error)
    }
    return path
  }

  async discard(upload: UploadId): Promise<void> {
    await this.#leaving.remove(this.#staged(upload))
    await this.#scratch.discard(upload)
  }

  async keep(files: readonly LocalFile[]): Promise<void> {
    const folders = [...new Set(files.map(({ cid }) => dirname(this.#pathOf(cid))))]
    try {
      for (const folder of folders) await mkdir(folder, { recursive: true, mode: 0o700 })
      await someAtOnce(syncsAtOnce, files, (file) => this.#keep(file))
      // Names that are there already may not be durable yet: another `keep` may be about to sync
      // them.
      await someAtOnce(syncsAtOnce, [...folders, this.#contents()], syncFolder)
    } catch (error) {
      throw asDiskFull(error)
    }
  }

  async *read(cid: string, range?: ByteRange): AsyncGenerator<Uint8Array> {
    const path = this.#pathOf(cid)
    if ((await bytesOf(path)) === undefined) throw noSuchContent(cid)
    if (range?.length === 0) return
    const part = range && { start: range.start, end: range.start + range.length - 1 }
    yield* fileStream(path, { ...part, highWaterMark: pieceBytes })
  }

  async *contents(): AsyncGenerator<{ readonly cid: string; readonly bytes: number }> {
    for await (const { name: end } of await opendir(this.#contents())) {
      if (!/^[a-z2-7]$/.test(end)) continue
      for await (const { name: cid } of await opendir(this.#contents(end))) {
        const bytes = isCid(cid) ? await bytesOf(this.#contents(end, cid)) : undefined
        if (bytes !== undefined) yield { cid, bytes }
      }
    }
  }

  async remove(cid: string): Promise<void> {
    await this.#leaving.remove(this.#pathOf(cid))
  }

  async check(): Promise<void> {
    const path = join(this.scratch, randomUUID())
    const written = Buffer.from(path)
    await writeInPortions(path, piecesOf(written))
    try {
      if (!written.equals(await readFile(path))) throw new Error('a file is not what was written')
    } finally {
      await rm(path, { force: true })
    }
  }

  async close(): Promise<void> {
    await this.#leaving.close()
    await this.#scratch.close()
  }

  async #keep({ cid, path }: LocalFile): Promise<void> {
    const target = this.#pathOf(cid)
    if (existsSync(target)) return await rm(path, { force: true })
    await syncFile(path)
    try {
      await rename(path, target)
    } catch (error) {
      if (errorCodeOf(error) !== 'EXDEV') throw error
      const part = this.#newPart()
      await writeInPortions(part, fileStream(path))
      await rename(part, target)
      await rm(path)
    }
  }

  async #copy(from: string, to: string): Promise<void> {
    try {
      await link(from, to)
    } catch (error) {
      if (!withoutLinks.includes(errorCodeOf(error) ?? '')) throw error
      await writeInPortions(to, fileStream(from))
    }
  }

  #newPart(): string {
    return this.#staged(randomUUID() + partEnding)
  }

  #staged(...names: readonly string[]): string {
    return join(this.#needs.folder, 'staged', ...names)
  }

  #contents(...names: readonly string[]): string {
    return join(contentFolder(this.#needs.folder), ...names)
  }

  #pathOf(cid: string): string {
    return contentPath(this.#needs.folder, cid)
  }
}

/**
 * Makes a file durable that was written by somebody else. One whose sync fails is removed: the next
 * sync would succeed although the bytes are lost.
 */
async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    if ((fstatSync(file.fd).mode & 0o777) !== 0o600) fchmodSync(file.fd, 0o600)
    await file.sync()
  } catch (error) {
    await rm(path, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

async function bytesOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
