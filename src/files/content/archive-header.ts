import { type Entry, type LocalFileHeader, parseExtraFields } from 'yauzl'
import { fileRejected } from './file-rejected.ts'

/** Bits of the flags of an entry (APPNOTE.TXT, 4.4.4). */
const encrypted = 0x1
const sizesFollow = 0x8
const isPatch = 0x20
const namesHidden = 0x2000
/** Names are UTF-8. */
export const namedInUtf8 = 0x800

/** What stands in 32 bits when the field of ZIP64 has the value. */
const inZip64 = 0xffffffff

/** Kinds of files in the mode of Unix, which is the upper half of the attributes. */
const kindBits = 0xf000
const regularKind = 0x8000
const folderKind = 0x4000

/** Attributes of DOS and Windows, the lower half. */
const dosFolder = 0x10
const windowsLink = 0x400

/** @throws DomainError `file_rejected` for an entry that is no plain file or folder, or that cannot be read */
export function checkKind(entry: Entry, name: string): void {
  const refuse = (reason: string) => fileRejected(reason, name)
  const { generalPurposeBitFlag: flags, compressionMethod: method } = entry
  if (flags & (encrypted | namesHidden)) throw refuse('it is encrypted')
  if (flags & isPatch) throw refuse('it is a patch of another file')
  if (method !== 0 && method !== 8) throw refuse(`its compression (method ${method}) is unknown`)
  const isFolder = name.endsWith('/')
  const attributes = entry.externalFileAttributes
  // Readers go by these bits, whatever system the entry says it comes from.
  const kind = (attributes >>> 16) & kindBits
  if (kind !== 0 && kind !== (isFolder ? folderKind : regularKind)) {
    throw refuse('it is a link or a special file')
  }
  if (attributes & windowsLink) throw refuse('it is a link or a special file')
  if (isFolder && entry.uncompressedSize > 0) throw refuse('it is a folder with bytes of its own')
  if (!isFolder && attributes & dosFolder)
    throw refuse('it is a folder without a slash in its name')
}

/**
 * An entry stands in the archive twice: before its bytes, and in the directory at the end. Readers that
 * go from the front to the back believe the one, all others the other.
 *
 * @throws DomainError `file_rejected` when they differ
 */
export function checkLocalHeader(entry: Entry, local: LocalFileHeader, name: string): void {
  const refuse = (what: string) => fileRejected(`its two headers differ in the ${what}`, name)
  if (!local.fileName.equals(entry.fileNameRaw)) throw refuse('name')
  if (local.compressionMethod !== entry.compressionMethod) throw refuse('compression')
  const flags = local.generalPurposeBitFlag
  if ((flags ^ entry.generalPurposeBitFlag) & (encrypted | namesHidden)) throw refuse('encryption')
  // A writer that does not know what comes leaves these out, and has them follow the bytes.
  const isLeftOut = (value: number) =>
    (flags & sizesFollow) !== 0 && (value === 0 || value === inZip64)
  const sizes = localSizes(local)
  if (sizes.bytes !== entry.uncompressedSize && !isLeftOut(sizes.bytes)) throw refuse('size')
  if (sizes.packedBytes !== entry.compressedSize && !isLeftOut(sizes.packedBytes)) {
    throw refuse('packed size')
  }
  if (local.crc32 !== entry.crc32 && !isLeftOut(local.crc32)) throw refuse('checksum')
}

/** Sizes of 64 bits stand in a field of their own, in this order, those of 32 bits left out (4.5.3). */
function localSizes(local: LocalFileHeader): {
  readonly bytes: number
  readonly packedBytes: number
} {
  const field = parseExtraFields(local.extraField).find(({ id }) => id === 1)?.data
  let at = 0
  const sizeOf = (value: number): number => {
    if (value !== inZip64 || !field || field.length < at + 8) return value
    at += 8
    return Number(field.readBigUInt64LE(at - 8))
  }
  const bytes = sizeOf(local.uncompressedSize)
  return { bytes, packedBytes: sizeOf(local.compressedSize) }
}
