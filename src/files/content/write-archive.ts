import type { Readable } from 'node:stream'
import type { EndOptions } from 'yazl'
import { streamOf } from '../../core/heard-streams.ts'
import type { ByteRange } from '../store/file-store.ts'

/** A content as a file of an archive that is written. */
export interface ArchivedFile {
  /** Its path in the archive, with `/`. */
  readonly name: string
  readonly cid: string
  /** Bytes. */
  readonly size: number
}

/** An archive that was not written yet. */
export interface WrittenArchive {
  /** Bytes that it will have. */
  readonly size: number
  /** Its bytes. Those before a range are made as well, because what comes later has their checksums. */
  bytes(range?: ByteRange): AsyncIterable<Uint8Array>
}

/** How every entry is written, whatever was known of the file: a name, and bytes. */
const plainEntry = {
  // The least that the format can say, in whatever zone this runs: it knows times of day, and no zones.
  mtime: new Date(1980, 0, 1),
  forceDosTimestamp: true,
  mode: 0o100644,
  compress: false,
} as const

/** Bytes of the record of an entry in the directory, without its name (APPNOTE.TXT, 4.3.12). */
const recordBytes = 46

/** Bytes of a directory from which on yazl reckons with an end of ZIP64. */
const directory64Bytes = 0xffff

type ZipFileClass = typeof import('yazl').ZipFile

/**
 * An archive of contents, in the order given: the same bytes for the same files, at any time and anywhere.
 * Nothing is compressed, so that its size is known before any of them is read.
 *
 * @param read a content from its first to its last byte
 */
export async function archiveOf(
  files: readonly ArchivedFile[],
  read: (cid: string) => AsyncIterable<Uint8Array>,
): Promise<WrittenArchive> {
  const { ZipFile } = await import('yazl')
  return {
    size: sizeOf(ZipFile, files),
    bytes(range) {
      const bytes = bytesOf(ZipFile, files, read)
      return range ? within(bytes, range) : bytes
    },
  }
}

function sizeOf(ZipFile: ZipFileClass, files: readonly ArchivedFile[]): number {
  const zip = new ZipFile()
  for (const { name, size } of files) {
    // It asks for the first file at once, and gets none.
    zip.addReadStreamLazy(name, { ...plainEntry, size }, () => undefined)
  }
  let size = -1
  // Its types leave out that it is given the size.
  zip.end(endOf(files), (...[bytes = size]: readonly number[]) => {
    size = bytes
  })
  if (size < 0) throw new Error('the size of the archive is not known')
  return size
}

async function* bytesOf(
  ZipFile: ZipFileClass,
  files: readonly ArchivedFile[],
  read: (cid: string) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile()
  const output = streamOf(zip.outputStream)
  const fail = (error: Error) => output.destroy(error)
  zip.on('error', fail)
  let current: Readable | undefined
  for (const { name, cid, size } of files) {
    zip.addReadStreamLazy(name, { ...plainEntry, size }, (give) => {
      current = streamOf(read(cid))
      current.on('error', fail)
      give(null, current)
    })
  }
  zip.end(endOf(files))
  try {
    for await (const chunk of output) yield chunk
  } finally {
    // A reader that has enough of it leaves a content in the middle.
    current?.destroy()
    output.destroy()
  }
}

/**
 * How the archive ends. yazl reckons with an end of ZIP64 from 64 KiB of a directory on, and writes one from
 * 4 GiB on, so its size would be wrong in between.
 */
function endOf(files: readonly ArchivedFile[]): EndOptions {
  const bytes = files.reduce((sum, { name }) => sum + recordBytes + Buffer.byteLength(name), 0)
  return { forceZip64Format: bytes >= directory64Bytes, comment: '' }
}

async function* within(
  bytes: AsyncIterable<Uint8Array>,
  { start, length }: ByteRange,
): AsyncGenerator<Uint8Array> {
  const end = start + length
  let position = 0
  for await (const chunk of bytes) {
    const piece = chunk.subarray(Math.max(0, start - position), Math.max(0, end - position))
    position += chunk.length
    if (piece.length > 0) yield piece
    if (position >= end) return
  }
}
