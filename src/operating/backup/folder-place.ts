import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readdirSync,
  rmdirSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { conflict } from '../../core/conflict.ts'
import { fileStream } from '../../core/heard-streams.ts'
import { makeFolder } from '../../core/make-folder.ts'
import type { BackupPlace } from './backup-place.ts'

/** Written bytes that may wait for the disk: more at once would hold up those who need it as well. */
const unsyncedBytesMax = 1024 * 1024

const stagingName = 'staging'

/** A backup in a folder, which is the service's own: it holds secrets, if only their digests. */
export class FolderPlace implements BackupPlace {
  readonly name: string
  readonly stagingFolder: string
  #isMade = false

  constructor(path: string) {
    this.name = path
    this.stagingFolder = join(path, stagingName)
  }

  async prepare(): Promise<void> {
    this.#isMade = !existsSync(this.name)
    makeFolder(this.name, 0o700)
    if (readdirSync(this.name).length > 0) {
      throw conflict(
        `${this.name} is not empty: each backup has its own folder`,
        'Name a folder in to that is empty or does not exist; docs/backup.md has examples.',
      )
    }
  }

  async write(name: string, chunks: AsyncIterable<Uint8Array>): Promise<void> {
    await writeDurably(join(this.name, name), chunks)
    syncFolder(this.name)
  }

  read(name: string, signal: AbortSignal): AsyncIterable<Uint8Array> {
    return fileStream(join(this.name, name), { signal })
  }

  async remove(names: readonly string[]): Promise<void> {
    for (const name of names) rmSync(join(this.name, name), { force: true })
    rmSync(this.stagingFolder, { recursive: true, force: true })
    if (this.#isMade && existsSync(this.name)) rmdirSync(this.name)
  }
}

/**
 * Writes a new file so that the disk never has much to do at once; durable when it resolves. Without the pool
 * of threads, which belongs to the store: who calls this has a thread that may be blocked.
 */
export async function writeDurably(
  path: string,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<void> {
  const file = openSync(path, 'wx', 0o600)
  try {
    for await (const _ of writingTo(file, chunks)) continue
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Hands chunks on once they are written. The last of them need not be durable when it ends. */
export async function* writingTo(
  file: number,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let unsynced = 0
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.byteLength; ) at += writeSync(file, chunk, at)
    unsynced += chunk.byteLength
    if (unsynced >= unsyncedBytesMax) {
      fdatasyncSync(file)
      unsynced = 0
    }
    yield chunk
  }
}

/** Makes the names in a folder durable. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
