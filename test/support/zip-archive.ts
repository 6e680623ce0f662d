import { crc32, deflateRawSync } from 'node:zlib'

/** Flags of entries. */
export const encryptedFlag = 0x1
export const descriptorFlag = 0x8
export const utf8Flag = 0x800

/** What an entry says of itself, in one of its two headers. */
export interface HeaderFields {
  readonly name: string | Buffer
  readonly flags: number
  readonly method: number
  readonly crc: number
  readonly packedBytes: number
  readonly bytes: number
  readonly extra: Buffer
}

export interface ZipEntry extends Partial<HeaderFields> {
  readonly name: string | Buffer
  readonly content?: string | Buffer
  /** Its bytes as they stand in the archive, if not what follows from content and method. */
  readonly packed?: Buffer
  /** What its first header says otherwise. */
  readonly local?: Partial<HeaderFields>
  /** What follows its bytes. */
  readonly behind?: Buffer
  readonly madeBy?: number
  readonly attributes?: number
  readonly comment?: string
  /** Where the directory says that it begins. */
  readonly at?: number
}

/** What the end of the archive says otherwise, and what stands where nothing should. */
export interface ZipEnd {
  readonly entries?: number
  readonly directoryBytes?: number
  readonly directoryAt?: number
  readonly disk?: number
  readonly comment?: string | Buffer
  readonly before?: Buffer
  readonly beforeDirectory?: Buffer
  readonly behind?: Buffer
  readonly isZip64?: boolean
}

/** An archive, byte by byte: a sound one, but for what is said otherwise (APPNOTE.TXT, 4.3). */
export function zipArchive(entries: readonly ZipEntry[], end: ZipEnd = {}): Buffer {
  const pieces: Buffer[] = [end.before ?? Buffer.alloc(0)]
  const records: Buffer[] = []
  let position = pieces[0]?.length ?? 0
  for (const entry of entries) {
    const { fields, packed } = laidOut(entry)
    const local = localHeader({ ...fields, ...entry.local })
    records.push(directoryRecord(fields, entry, entry.at ?? position))
    const piece = Buffer.concat([local, packed, entry.behind ?? Buffer.alloc(0)])
    pieces.push(piece)
    position += piece.length
  }
  const gap = end.beforeDirectory ?? Buffer.alloc(0)
  const directory = Buffer.concat(records)
  const closing = zipEnd(records.length, directory.length, position + gap.length, end)
  return Buffer.concat([...pieces, gap, directory, closing, end.behind ?? Buffer.alloc(0)])
}

function laidOut(entry: ZipEntry): { readonly fields: HeaderFields; readonly packed: Buffer } {
  const content = Buffer.from(entry.content ?? '')
  const method = entry.method ?? 0
  const packed = entry.packed ?? (method === 8 ? deflateRawSync(content) : content)
  const fields = {
    name: entry.name,
    flags: entry.flags ?? utf8Flag,
    method,
    crc: entry.crc ?? crc32(content),
    packedBytes: entry.packedBytes ?? packed.length,
    bytes: entry.bytes ?? content.length,
    extra: entry.extra ?? Buffer.alloc(0),
  }
  return { fields, packed }
}

function localHeader({
  name,
  flags,
  method,
  crc,
  packedBytes,
  bytes,
  extra,
}: HeaderFields): Buffer {
  const inBytes = Buffer.from(name)
  const fixed = numbers(
    [0x04034b50, 4],
    [20, 2],
    [flags, 2],
    [method, 2],
    [0, 2],
    [0x21, 2],
    [crc, 4],
    [packedBytes, 4],
    [bytes, 4],
    [inBytes.length, 2],
    [extra.length, 2],
  )
  return Buffer.concat([fixed, inBytes, extra])
}

/** What the directory says of an entry. */
export function directoryRecord(fields: HeaderFields, entry: ZipEntry, at: number): Buffer {
  const name = Buffer.from(fields.name)
  const comment = Buffer.from(entry.comment ?? '')
  const fixed = numbers(
    [0x02014b50, 4],
    [entry.madeBy ?? 0x031e, 2],
    [20, 2],
    [fields.flags, 2],
    [fields.method, 2],
    [0, 2],
    [0x21, 2],
    [fields.crc, 4],
    [fields.packedBytes, 4],
    [fields.bytes, 4],
    [name.length, 2],
    [fields.extra.length, 2],
    [comment.length, 2],
    [0, 2],
    [0, 2],
    [entry.attributes ?? modeOf(name) * 0x10000, 4],
    [at, 4],
  )
  return Buffer.concat([fixed, name, fields.extra, comment])
}

/** What Unix says of a file, or of a folder. */
function modeOf(name: Buffer): number {
  return name.at(-1) === 0x2f ? 0o040755 : 0o100644
}

/** The end of an archive with so many entries, whose directory has so many bytes from a place on. */
export function zipEnd(entries: number, bytes: number, at: number, end: ZipEnd = {}): Buffer {
  const said = {
    entries: end.entries ?? entries,
    bytes: end.directoryBytes ?? bytes,
    at: end.directoryAt ?? at,
  }
  const comment = Buffer.from(end.comment ?? '')
  const in64 = numbers(
    [0x06064b50, 4],
    [44, 8],
    [45, 2],
    [45, 2],
    [end.disk ?? 0, 4],
    [0, 4],
    [said.entries, 8],
    [said.entries, 8],
    [said.bytes, 8],
    [said.at, 8],
    [0x07064b50, 4],
    [0, 4],
    [at + bytes, 8],
    [1, 4],
  )
  const in32 = numbers(
    [0x06054b50, 4],
    [end.disk ?? 0, 2],
    [0, 2],
    [end.isZip64 ? 0xffff : said.entries, 2],
    [end.isZip64 ? 0xffff : said.entries, 2],
    [end.isZip64 ? 0xffffffff : said.bytes, 4],
    [end.isZip64 ? 0xffffffff : said.at, 4],
    [comment.length, 2],
  )
  return Buffer.concat([...(end.isZip64 ? [in64] : []), in32, comment])
}

/** A further field of an entry. */
export function extraField(id: number, data: Buffer): Buffer {
  return Buffer.concat([numbers([id, 2], [data.length, 2]), data])
}

/** Sizes of 64 bits. */
export function sizes64(...sizes: readonly number[]): Buffer {
  return extraField(1, numbers(...sizes.map((size) => [size, 8] as const)))
}

/** A name in UTF-8 beside the one that it was made for (0x7075). */
export function secondName(first: string | Buffer, second: string | Buffer): Buffer {
  const crc = crc32(Buffer.from(first))
  return extraField(0x7075, Buffer.concat([numbers([1, 1], [crc, 4]), Buffer.from(second)]))
}

/** Little-endian numbers, each with its bytes. */
export function numbers(...values: readonly (readonly [value: number, bytes: number])[]): Buffer {
  const pieces = values.map(([value, bytes]) => {
    const piece = Buffer.alloc(8)
    piece.writeBigUInt64LE(BigInt(value))
    return piece.subarray(0, bytes)
  })
  return Buffer.concat(pieces)
}
