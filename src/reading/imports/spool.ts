import { createHash } from 'node:crypto'
import { mkdirSync, rmSync, statfsSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DomainError } from '../../core/errors.ts'
import { type ImportId, newId, type UserId } from '../../core/ids.ts'

/** Files that arrive at once. */
const arrivingOfUserMax = 2
const arrivingMax = 8

/** Space on the disk that imports leave to the journal and the store. */
const spareBytes = 512 * 1024 * 1024

/** The name of the file in the folder of its import. */
export const spooledName = 'file'

export interface SpooledFile {
  /** The import that it is for: its folder has that name. */
  readonly id: ImportId
  readonly bytes: number
  /** Hex. */
  readonly sha256: string
}

export interface SpoolNeeds {
  readonly folder: string
  readonly bytesMax: number
}

/** Brings files to the disk as they arrive, and holds nothing of them in memory. */
export class Spool {
  readonly #needs: SpoolNeeds
  readonly #arriving = new Map<UserId, number>()

  constructor(needs: SpoolNeeds) {
    this.#needs = needs
  }

  /** Files that arrive now. */
  get arriving(): number {
    let count = 0
    for (const ofUser of this.#arriving.values()) count += ofUser
    return count
  }

  /**
   * Resolves when a file is on disk. One that does not come to its end leaves nothing.
   *
   * @throws DomainError `body_too_large`, `disk_full`, `malformed_body`, `rate_limited`, `overloaded`
   */
  async keep(userId: UserId, content: AsyncIterable<Buffer>): Promise<SpooledFile> {
    this.#enter(userId)
    const id = newId<ImportId>()
    const path = join(this.#needs.folder, id, spooledName)
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      return { id, ...(await this.#write(path, content)) }
    } catch (error) {
      this.drop(id)
      throw asDomainError(error)
    } finally {
      this.#leave(userId)
    }
  }

  /** Removes a file that no import was made of. */
  drop(id: ImportId): void {
    rmSync(join(this.#needs.folder, id), { recursive: true, force: true })
  }

  async #write(path: string, content: AsyncIterable<Buffer>) {
    const file = await open(path, 'wx', 0o600)
    const digest = createHash('sha256')
    let bytes = 0
    try {
      for await (const piece of content) {
        bytes += piece.length
        this.#assertRoom(bytes)
        digest.update(piece)
        await writeAll(file, piece)
      }
      if (bytes === 0) throw new DomainError('malformed_body', 'the body is empty')
      await file.sync()
    } finally {
      await file.close()
    }
    const folder = await open(dirname(path), 'r')
    await folder.sync()
    await folder.close()
    return { bytes, sha256: digest.digest('hex') }
  }

  #assertRoom(bytes: number): void {
    const { bytesMax, folder } = this.#needs
    if (bytes > bytesMax) {
      throw new DomainError('body_too_large', `a file has at most ${bytesMax} bytes`)
    }
    const { bavail, bsize } = statfsSync(folder)
    if (bavail * bsize >= spareBytes) return
    throw new DomainError('disk_full', 'there is too little space left on the disk')
  }

  #enter(userId: UserId): void {
    const ofUser = this.#arriving.get(userId) ?? 0
    if (ofUser >= arrivingOfUserMax) {
      const message = `${arrivingOfUserMax} files at once are enough for one user`
      throw new DomainError('rate_limited', message, { retryAfter: 5 })
    }
    if (this.arriving >= arrivingMax) {
      throw new DomainError('overloaded', 'too many files arrive', { retryAfter: 5 })
    }
    this.#arriving.set(userId, ofUser + 1)
  }

  #leave(userId: UserId): void {
    const left = (this.#arriving.get(userId) ?? 0) - 1
    if (left > 0) this.#arriving.set(userId, left)
    else this.#arriving.delete(userId)
  }
}

async function writeAll(file: FileHandle, piece: Buffer): Promise<void> {
  for (let at = 0; at < piece.length; ) at += (await file.write(piece, at)).bytesWritten
}

function asDomainError(error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return new DomainError('disk_full', 'there is no space left on the disk', { cause: error })
  }
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') {
    return new DomainError('malformed_body', 'the body was cut off', { cause: error })
  }
  return error
}
