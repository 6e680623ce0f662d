import { closeSync, openSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib'
import { DomainError } from '../../core/errors.ts'
import { ArchiveBytes } from './archive-bytes.ts'
import { type ArchiveEntry, readDirectory } from './archive-directory.ts'
import type { NamedContent } from './content.ts'
import { fileRejected } from './file-rejected.ts'
import { blockBytes, type HashedBytes, hashBlock, hashBytes } from './hash-file.ts'
import { mediaTypeOf, sniffedBytes } from './media-type.ts'

/** Files that are handed over together: each call syncs a disk, and none should have thousands to do. */
const portionFilesMax = 256

/** Bytes after which a portion ends, whole files as they are: what scratch has to have room for. */
const portionBytesMax = 64 * 1024 * 1024

/** Bytes that are read, and inflated, at once. */
const chunkBytes = 256 * 1024

/** The least that zlib inflates at once. */
const leastChunkBytes = 64

/** Nobody else has to read what was uploaded. */
const fileMode = 0o600

/** A file of an archive that was unpacked. */
export interface UnpackedFile {
  readonly content: NamedContent
  /** Where its bytes are. */
  readonly path: string
}

export interface UnpackOptions {
  /** Bytes of all files together. */
  readonly unpackedBytesMax: number
  /** As in `UploadLimits`. */
  readonly roomBytes?: number | undefined
  /** An empty folder. What is left in it goes with it. */
  readonly folder: string
}

/**
 * Unpacks the files of an archive, in the order of their names. They get names of ours. A portion has to be
 * done with when the next one is asked for, so that there are never many files at once. A refusal comes
 * before the first portion, unless the bytes of a file are not what the archive says of them.
 *
 * @throws DomainError `file_rejected`, `disk_full`
 */
export async function* unpack(
  path: string,
  { unpackedBytesMax, roomBytes = Number.POSITIVE_INFINITY, folder }: UnpackOptions,
): AsyncGenerator<readonly UnpackedFile[]> {
  using archive = new ArchiveBytes(path)
  const entries = await readDirectory(archive, unpackedBytesMax)
  // No fault of the archive: it may be taken another time.
  if (entries.reduce((sum, entry) => sum + entry.bytes, 0) > roomBytes) {
    throw new DomainError('disk_full', 'there is too little space left on the disk to unpack it')
  }
  let portion: UnpackedFile[] = []
  let bytes = 0
  for (const [at, entry] of entries.entries()) {
    portion.push(await unpacked(archive, entry, join(folder, String(at))))
    bytes += entry.bytes
    const isLast = at === entries.length - 1
    if (!isLast && portion.length < portionFilesMax && bytes < portionBytesMax) continue
    yield portion
    // What was not moved from here would take room until all is done.
    for (const left of readdirSync(folder)) rmSync(join(folder, left))
    portion = []
    bytes = 0
  }
}

async function unpacked(
  archive: ArchiveBytes,
  entry: ArchiveEntry,
  path: string,
): Promise<UnpackedFile> {
  const { name } = entry
  const { head, ...hashed } = isSmall(entry)
    ? await writeWhole(archive, entry, path)
    : await writeInChunks(archive, entry, path)
  return { content: { name, ...hashed, mediaType: await mediaTypeOf(head, name) }, path }
}

/** A file that was written, and its first bytes. */
interface WrittenFile extends HashedBytes {
  readonly head: Uint8Array
}

function isSmall({ bytes, packedBytes }: ArchiveEntry): boolean {
  return bytes <= blockBytes && packedBytes <= blockBytes
}

/** In one go, as most files are small, and streams for them take most of the time. */
async function writeWhole(
  archive: ArchiveBytes,
  entry: ArchiveEntry,
  path: string,
): Promise<WrittenFile> {
  const packedWhole = archive.slice(entry.start, entry.packedBytes)
  const bytes = entry.isDeflated ? inflatedWhole(packedWhole, entry) : packedWhole
  checkWhole(bytes.length, crc32(bytes), entry)
  writeFileSync(path, bytes, { flag: 'wx', mode: fileMode })
  return { ...(await hashBlock(bytes)), head: bytes.subarray(0, sniffedBytes) }
}

async function writeInChunks(
  archive: ArchiveBytes,
  entry: ArchiveEntry,
  path: string,
): Promise<WrittenFile> {
  const file = openSync(path, 'wx', fileMode)
  try {
    let head = Buffer.alloc(0)
    const written = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of soundBytes(archive, entry)) {
        if (head.length === 0) head = Buffer.from(chunk.subarray(0, sniffedBytes))
        for (let at = 0; at < chunk.length; ) at += writeSync(file, chunk, at)
        yield chunk
      }
    }
    return { ...(await hashBytes(written())), head }
  } finally {
    closeSync(file)
  }
}

/** @throws DomainError `file_rejected` once there are more bytes than the entry says, or fewer, or others */
async function* soundBytes(archive: ArchiveBytes, entry: ArchiveEntry): AsyncGenerator<Uint8Array> {
  let bytes = 0
  let sum = 0
  for await (const chunk of entry.isDeflated ? inflated(archive, entry) : packed(archive, entry)) {
    bytes += chunk.length
    if (bytes > entry.bytes) throw tooLarge(entry)
    sum = crc32(chunk, sum)
    yield chunk
  }
  checkWhole(bytes, sum, entry)
}

function checkWhole(bytes: number, sum: number, entry: ArchiveEntry): void {
  if (bytes > entry.bytes) throw tooLarge(entry)
  if (bytes < entry.bytes) throw fileRejected('it is smaller than it says', entry.name)
  if (sum !== entry.crc32) throw fileRejected('its checksum is wrong', entry.name)
}

function tooLarge({ name }: ArchiveEntry): DomainError {
  return fileRejected('it is larger than it says', name)
}

interface InflatedInfo {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

function inflatedWhole(packedWhole: Buffer, entry: ArchiveEntry): Buffer {
  // One byte more than it may have, because none at all is no limit.
  const bytesMax = entry.bytes + 1
  const options = {
    maxOutputLength: bytesMax,
    chunkSize: Math.max(leastChunkBytes, bytesMax),
    info: true,
  } as const
  try {
    // The types of Node do not know that `info` changes what is returned.
    const made = inflateRawSync(packedWhole, options) as unknown as InflatedInfo
    checkConsumed(made.engine.bytesWritten, entry)
    return made.buffer
  } catch (error) {
    throw asRejection(error, entry)
  }
}

async function* inflated(archive: ArchiveBytes, entry: ArchiveEntry): AsyncGenerator<Uint8Array> {
  const inflate = createInflateRaw({
    chunkSize: Math.min(chunkBytes, Math.max(leastChunkBytes, entry.bytes)),
  })
  const fed = pipeline(packed(archive, entry), inflate)
  // A failure reaches whoever reads.
  fed.catch(() => undefined)
  try {
    for await (const chunk of inflate) yield chunk
  } catch (error) {
    throw asRejection(error, entry)
  } finally {
    inflate.destroy()
  }
  checkConsumed(inflate.bytesWritten, entry)
}

function checkConsumed(packedBytes: number, entry: ArchiveEntry): void {
  if (packedBytes === entry.packedBytes) return
  throw fileRejected('there are bytes behind its compressed ones', entry.name)
}

function asRejection(error: unknown, entry: ArchiveEntry): unknown {
  if (!(error instanceof Error && 'code' in error)) return error
  if (error.code === 'ERR_BUFFER_TOO_LARGE') return tooLarge(entry)
  if (!String(error.code).startsWith('Z_')) return error
  return fileRejected('its compressed bytes are broken', entry.name)
}

async function* packed(
  archive: ArchiveBytes,
  { start, packedBytes, name }: ArchiveEntry,
): AsyncGenerator<Buffer> {
  for (let at = 0; at < packedBytes; ) {
    const chunk = archive.slice(start + at, Math.min(chunkBytes, packedBytes - at))
    if (chunk.length === 0) throw fileRejected('it ends too early', name)
    at += chunk.length
    yield chunk
  }
}
