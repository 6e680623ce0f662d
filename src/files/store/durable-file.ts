import { type FileHandle, open, rm, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { DomainError } from '../../core/errors.ts'

/**
 * Written bytes that may wait for the disk. With more at once the syncs of the journal, which is on
 * the same disk, take ten times as long; with less the file does.
 */
const unsyncedBytesMax = 1024 * 1024

/** How a file is written. */
interface Writing {
  /** Free space of the disk that is left to others. */
  readonly spareBytes?: number
  /** Removes what was written of a file that fails. */
  readonly remove?: (path: string) => Promise<void>
}

/**
 * Writes a new file; durable when it resolves, but for its name in the folder. When it fails there
 * is none. One piece is asked for at a time, and none before the one before it is written.
 *
 * @throws DomainError `disk_full`; whatever the bytes throw
 */
export async function writeInPortions(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  { spareBytes = 0, remove = removeAtOnce }: Writing = {},
): Promise<void> {
  const assertRoom = async () => {
    const { bavail, bsize } = await statfs(dirname(path))
    if (bavail * bsize < spareBytes) throw diskFull()
  }
  try {
    await assertRoom()
    await writeTo(await open(path, 'wx', 0o600), bytes, assertRoom)
  } catch (error) {
    await remove(path).catch(() => undefined)
    throw asDiskFull(error)
  }
}

async function removeAtOnce(path: string): Promise<void> {
  await rm(path, { force: true })
}

async function writeTo(
  file: FileHandle,
  bytes: AsyncIterable<Uint8Array>,
  afterPortion: () => Promise<void>,
): Promise<void> {
  try {
    let unsynced = 0
    for await (const piece of bytes) {
      await writeAll(file, piece)
      unsynced += piece.byteLength
      if (unsynced < unsyncedBytesMax) continue
      await file.datasync()
      await afterPortion()
      unsynced = 0
    }
    await file.sync()
  } finally {
    await file.close()
  }
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.byteLength; ) at += (await file.write(piece, at)).bytesWritten
}

/** Makes the names in a folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** A failure of the file system, as what a caller can act on where it is that. */
export function asDiskFull(error: unknown): unknown {
  const code = errorCodeOf(error)
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error
  return diskFull(error)
}

function diskFull(cause?: unknown): DomainError {
  return new DomainError('disk_full', 'there is no space left on the disk', { cause })
}

/** `ENOENT` and the like. */
export function errorCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined
}
