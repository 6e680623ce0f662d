import {
  type Entry,
  fromRandomAccessReaderPromise,
  type LocalFileHeader,
  type ZipFile,
} from 'yauzl'
import { DomainError, messageOf } from '../../core/errors.ts'
import type { ArchiveBytes } from './archive-bytes.ts'
import { checkKind, checkLocalHeader, namedInUtf8 } from './archive-header.ts'
import { EntryPlaces, nameOf } from './entry-names.ts'
import { fileRejected } from './file-rejected.ts'

/** Entries of an archive, folders included. */
const entriesMax = 10_000

/** Unpacked bytes up to which an archive may have been as small as it likes, and how many times its size beyond. */
const freeUnpackedBytes = 1024 * 1024
const ratioMax = 100

/** Bytes of a record of the directory without name, fields and comment (APPNOTE.TXT, 4.3.12). */
const recordBytes = 46

/** Ends of a directory: the record of each kind, and what leads to that of ZIP64 (4.3.14 to 4.3.16). */
const endMark = 0x06054b50
const endBytes = 22
const endMark64 = 0x06064b50
const endBytes64 = 56
const locatorMark64 = 0x07064b50
const locatorBytes64 = 20

/** A file of an archive, as all that it says about itself agrees. */
export interface ArchiveEntry {
  readonly name: string
  readonly isDeflated: boolean
  readonly crc32: number
  /** Bytes in the archive, from `start` on. */
  readonly packedBytes: number
  readonly start: number
  /** Bytes unpacked. */
  readonly bytes: number
}

/** Where something stands in the archive. */
interface Stretch {
  readonly name: string
  readonly from: number
  readonly to: number
}

/**
 * The files of an archive, in the order of their names. An archive that two readers could understand
 * differently is refused, and nothing of it was unpacked by then.
 *
 * @param unpackedBytesMax bytes of all files together
 * @throws DomainError `file_rejected`
 */
export async function readDirectory(
  archive: ArchiveBytes,
  unpackedBytesMax: number,
): Promise<readonly ArchiveEntry[]> {
  try {
    const zip = await fromRandomAccessReaderPromise(archive, archive.size, {
      decodeStrings: false,
      autoClose: false,
    })
    const files = await filesOf(zip, archive, unpackedBytesMax)
    return files.toSorted(({ name: a }, { name: b }) =>
      Buffer.compare(Buffer.from(a), Buffer.from(b)),
    )
  } catch (error) {
    if (archive.failure !== undefined) throw archive.failure
    throw error instanceof DomainError
      ? error
      : fileRejected(`it is no sound zip archive: ${messageOf(error)}`)
  }
}

async function filesOf(
  zip: ZipFile,
  archive: ArchiveBytes,
  unpackedBytesMax: number,
): Promise<readonly ArchiveEntry[]> {
  // Before one of them is looked at: millions of them would take minutes, and their names all memory.
  if (zip.entryCount > entriesMax) throw fileRejected(`it has more than ${entriesMax} entries`)
  const places = new EntryPlaces()
  let unpackedBytes = 0
  const files: ArchiveEntry[] = []
  const stretches: Stretch[] = []
  let from: number | undefined
  let to = 0
  for await (const entry of zip.eachEntry()) {
    // What was read last are name, further fields and comment, behind the fixed part of a record.
    const recordAt = archive.lastPosition - recordBytes
    from ??= recordAt
    to =
      recordAt +
      recordBytes +
      entry.fileNameLength +
      entry.extraFieldLength +
      entry.fileCommentLength
    const name = nameOf({
      bytes: entry.fileNameRaw,
      isUtf8: (entry.generalPurposeBitFlag & namedInUtf8) !== 0,
      extraFields: entry.extraFields,
    })
    checkKind(entry, name)
    places.add(name)
    unpackedBytes += entry.uncompressedSize
    checkUnpacked(unpackedBytes, archive.size, unpackedBytesMax)
    const local = await localHeaderOf(zip, entry, name)
    checkLocalHeader(entry, local, name)
    const file = fileOf(name, entry, local)
    stretches.push({
      name,
      from: entry.relativeOffsetOfLocalHeader,
      to: file.start + file.packedBytes,
    })
    if (!name.endsWith('/')) files.push(file)
  }
  if (files.length === 0) throw fileRejected('it has no files')
  checkEnd(archive, from ?? 0, to, stretches.length)
  checkStretches(stretches, from ?? 0)
  return files
}

async function localHeaderOf(zip: ZipFile, entry: Entry, name: string): Promise<LocalFileHeader> {
  try {
    return await zip.readLocalFileHeaderPromise(entry)
  } catch (error) {
    throw fileRejected(messageOf(error), name)
  }
}

function fileOf(name: string, entry: Entry, local: LocalFileHeader): ArchiveEntry {
  return {
    name,
    // Some writers say that nothing is deflated, for which the format has two bytes, and write none.
    isDeflated: entry.compressionMethod === 8 && entry.compressedSize > 0,
    crc32: entry.crc32,
    packedBytes: entry.compressedSize,
    start: local.fileDataStart,
    bytes: entry.uncompressedSize,
  }
}

/** Sizes are what entries say. None of them may become longer than that when it is unpacked. */
function checkUnpacked(unpackedBytes: number, archiveBytes: number, bytesMax: number): void {
  if (unpackedBytes > bytesMax) throw fileRejected(`it unpacks to more than ${bytesMax} bytes`)
  if (unpackedBytes > Math.max(freeUnpackedBytes, ratioMax * archiveBytes)) {
    throw fileRejected(`it unpacks to more than ${ratioMax} times its size`)
  }
}

/**
 * The directory is all there is from its first entry to the end of the archive. Where that says there are
 * fewer entries than there are, others would read more of them.
 */
function checkEnd(archive: ArchiveBytes, from: number, to: number, entries: number): void {
  const mark = archive.slice(to, 4)
  let endAt = to
  if (mark.length === 4 && mark.readUInt32LE() === endMark64) {
    const end64 = archive.slice(to, endBytes64 + locatorBytes64)
    if (end64.length < endBytes64 + locatorBytes64) throw wrongEnd()
    const isWhole =
      end64.readBigUInt64LE(4) === BigInt(endBytes64 - 12) &&
      end64.readBigUInt64LE(24) === BigInt(entries) &&
      end64.readBigUInt64LE(32) === BigInt(entries) &&
      end64.readBigUInt64LE(40) === BigInt(to - from) &&
      end64.readUInt32LE(endBytes64) === locatorMark64 &&
      end64.readBigUInt64LE(endBytes64 + 8) === BigInt(to)
    if (!isWhole) throw wrongEnd()
    endAt += endBytes64 + locatorBytes64
  }
  const end = archive.slice(endAt, endBytes)
  if (end.length < endBytes || end.readUInt32LE() !== endMark) throw wrongEnd()
  const isIn64 = endAt > to
  const agrees = (value: number, known: number, limit: number) =>
    value === known || (isIn64 && value === limit)
  const isWhole =
    agrees(end.readUInt16LE(8), entries, 0xffff) &&
    agrees(end.readUInt16LE(10), entries, 0xffff) &&
    agrees(end.readUInt32LE(12), to - from, 0xffffffff) &&
    agrees(end.readUInt32LE(16), from, 0xffffffff) &&
    endAt + endBytes + end.readUInt16LE(20) === archive.size
  if (!isWhole) throw wrongEnd()
}

function wrongEnd(): DomainError {
  return fileRejected('its directory does not end where it has to')
}

/** @param directoryAt where the directory begins */
function checkStretches(stretches: readonly Stretch[], directoryAt: number): void {
  let end = 0
  for (const { name, from, to } of stretches.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    if (from < end) throw fileRejected('it overlaps another entry', name)
    if (end === 0 && from > 0) throw fileRejected('there are bytes before its first entry')
    if (to > directoryAt) throw fileRejected('it overlaps the directory', name)
    end = to
  }
}
