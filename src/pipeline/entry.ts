import type { ErrorDetail } from '../core/errors.ts'
import { uuidAt, uuidBytes } from '../core/ids.ts'
import type { AcceptedReading, RefusedReading, StreamVersion } from './reading.ts'

/**
 * What the journal holds: one entry per reading, final when it is written.
 *
 * Layout of format 1, little-endian. Times are microseconds since the epoch, as doubles: they are
 * exact up to 2^53, which is the year 2255.
 *
 *     0  u32  bytes that follow           26  f64  received at
 *     4  u8   format of the entry         34  f64  timestamp (NaN: none)
 *     5  u8   verdict                     42  8 B  digest
 *     6  16 B stream id                   50  u32  bytes of the notes
 *    22  u32  version of the stream       54       notes (JSON or empty), then the body
 *
 * The body of an accepted reading is the canonical JSON of its declared fields; that of a
 * quarantined one is the bytes as they arrived.
 */
const entryFormat = 1
const headerBytes = 54
const verdictAccepted = 1
const verdictQuarantined = 2

/** Longest text of a UTF-16 unit in UTF-8. */
const utf8BytesPerUnit = 3

/** Thrown for bytes that this version of the program must not guess the meaning of. */
export class EntryFormatError extends Error {
  override readonly name = 'EntryFormatError'
}

export interface AcceptedNotes {
  readonly extra?: string
  readonly flagged?: readonly string[]
}

export interface QuarantineNotes {
  readonly reason: string
  readonly message: string
  readonly details: readonly ErrorDetail[]
  readonly source: string
}

/** What every entry has. */
interface EntryHeader {
  /** The 16 bytes of the stream's id as a Latin-1 string: a cheap key for maps. */
  readonly streamKey: string
  readonly streamVersion: number
  readonly receivedAtUs: number
}

export interface AcceptedEntry extends EntryHeader {
  readonly accepted: true
  readonly timestampUs: number
  readonly digest: bigint
  readonly values: string
  readonly extra: string | undefined
  readonly flagged: readonly string[]
}

export interface QuarantinedEntry extends EntryHeader {
  readonly accepted: false
  readonly timestampUs: number | undefined
  readonly notes: QuarantineNotes
  /** A view of the batch's memory, valid as long as the batch is. */
  readonly payload: Uint8Array
}

export type Entry = AcceptedEntry | QuarantinedEntry

/** The uuid behind an entry's stream key. */
export function streamIdOf(streamKey: string): string {
  return uuidAt(Buffer.from(streamKey, 'latin1'), 0)
}

/** Writes entries one after the other into memory of its own, which grows as needed. */
export class EntryWriter {
  #buffer: Buffer
  #length = 0
  #count = 0
  /** The same few streams write most entries: their ids are turned into bytes once. */
  readonly #idBytes = new WeakMap<StreamVersion, Buffer>()

  constructor(bytesInitial = 64 * 1024) {
    this.#buffer = Buffer.allocUnsafeSlow(bytesInitial)
  }

  get count(): number {
    return this.#count
  }

  get byteLength(): number {
    return this.#length
  }

  accepted(stream: StreamVersion, reading: AcceptedReading, receivedAtUs: number): void {
    const plain = reading.extra === '' && reading.flagged.length === 0
    const notes = plain ? '' : acceptedNotes(reading)
    this.#reserve((notes.length + reading.values.length) * utf8BytesPerUnit)
    const body = this.#header(stream, verdictAccepted, receivedAtUs, reading.timestampUs)
    this.#buffer.write(reading.digest, this.#length + 42, 8, 'hex')
    const notesEnd = this.#notes(body, notes)
    this.#finish(notesEnd + this.#buffer.write(reading.values, notesEnd, 'utf8'))
  }

  /** Keeps a refused reading with the bytes as they arrived and where they came from. */
  quarantined(
    stream: StreamVersion,
    refusal: RefusedReading,
    received: { readonly atUs: number; readonly source: string; readonly payload: Uint8Array },
  ): void {
    const { reason, message, details } = refusal
    const notes = JSON.stringify({ reason, message, details, source: received.source })
    this.#reserve(notes.length * utf8BytesPerUnit + received.payload.byteLength)
    const timestampUs = refusal.timestampUs ?? Number.NaN
    const body = this.#header(stream, verdictQuarantined, received.atUs, timestampUs)
    this.#buffer.fill(0, this.#length + 42, this.#length + 50)
    const notesEnd = this.#notes(body, notes)
    this.#buffer.set(received.payload, notesEnd)
    this.#finish(notesEnd + received.payload.byteLength)
  }

  /** Hands out what was written, in memory of its own, and starts anew. */
  take(): { readonly bytes: Uint8Array<ArrayBuffer>; readonly count: number } {
    const bytes = new Uint8Array(this.#length)
    bytes.set(this.#buffer.subarray(0, this.#length))
    const taken = { bytes, count: this.#count }
    this.#length = 0
    this.#count = 0
    return taken
  }

  #reserve(contentBytes: number): void {
    const needed = this.#length + headerBytes + contentBytes
    if (needed <= this.#buffer.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2))
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
  }

  #header(stream: StreamVersion, verdict: number, receivedAtUs: number, timeUs: number): number {
    const at = this.#length
    const buffer = this.#buffer
    buffer[at + 4] = entryFormat
    buffer[at + 5] = verdict
    buffer.set(this.#bytesOf(stream), at + 6)
    buffer.writeUInt32LE(stream.version, at + 22)
    buffer.writeDoubleLE(receivedAtUs, at + 26)
    buffer.writeDoubleLE(timeUs, at + 34)
    return at + headerBytes
  }

  #bytesOf(stream: StreamVersion): Buffer {
    let bytes = this.#idBytes.get(stream)
    if (bytes === undefined) {
      bytes = uuidBytes(stream.streamId)
      this.#idBytes.set(stream, bytes)
    }
    return bytes
  }

  #notes(at: number, notes: string): number {
    const written = notes === '' ? 0 : this.#buffer.write(notes, at, 'utf8')
    this.#buffer.writeUInt32LE(written, at - 4)
    return at + written
  }

  #finish(end: number): void {
    this.#buffer.writeUInt32LE(end - this.#length - 4, this.#length)
    this.#length = end
    this.#count++
  }
}

function acceptedNotes({ extra, flagged }: AcceptedReading): string {
  const notes: AcceptedNotes = {
    ...(extra !== '' && { extra }),
    ...(flagged.length > 0 && { flagged }),
  }
  return JSON.stringify(notes)
}

/**
 * Reads a batch of entries, without the first `skipped` ones.
 *
 * @throws EntryFormatError for an entry of another format or with a length that cannot be: it is
 *   refused, never misread.
 */
export function* readEntries(bytes: Uint8Array, skipped = 0): Generator<Entry> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  let left = skipped
  while (at < buffer.length) {
    const end = endOfEntry(buffer, at)
    if (left > 0) left--
    else yield readEntry(buffer, at, end)
    at = end
  }
}

function endOfEntry(buffer: Buffer, at: number): number {
  if (at + 5 > buffer.length) throw new EntryFormatError(`the entry at byte ${at} is cut off`)
  const format = buffer[at + 4]
  if (format !== entryFormat) {
    throw new EntryFormatError(
      `the entry at byte ${at} has format ${format}; this version reads format ${entryFormat}`,
    )
  }
  const end = at + 4 + buffer.readUInt32LE(at)
  if (end > buffer.length || end < at + headerBytes) {
    throw new EntryFormatError(`the entry at byte ${at} has an impossible length`)
  }
  return end
}

function readEntry(buffer: Buffer, at: number, end: number): Entry {
  const notesEnd = at + headerBytes + buffer.readUInt32LE(at + 50)
  if (notesEnd > end) throw new EntryFormatError(`the notes at byte ${at} have no end`)
  const notes = buffer.toString('utf8', at + headerBytes, notesEnd)
  const streamKey = buffer.toString('latin1', at + 6, at + 22)
  const streamVersion = buffer.readUInt32LE(at + 22)
  const receivedAtUs = buffer.readDoubleLE(at + 26)
  const timestampUs = buffer.readDoubleLE(at + 34)
  const verdict = buffer[at + 5] ?? 0
  switch (verdict) {
    case verdictAccepted: {
      const { extra, flagged } = notes === '' ? noNotes : (JSON.parse(notes) as AcceptedNotes)
      return {
        streamKey,
        streamVersion,
        receivedAtUs,
        accepted: true,
        timestampUs,
        digest: buffer.readBigUInt64LE(at + 42),
        values: buffer.toString('utf8', notesEnd, end),
        extra,
        flagged: flagged ?? noFields,
      }
    }
    case verdictQuarantined:
      return {
        streamKey,
        streamVersion,
        receivedAtUs,
        accepted: false,
        timestampUs: Number.isNaN(timestampUs) ? undefined : timestampUs,
        notes: JSON.parse(notes) as QuarantineNotes,
        payload: buffer.subarray(notesEnd, end),
      }
    default:
      throw new EntryFormatError(`the entry at byte ${at} has an unknown verdict`)
  }
}

const noNotes: AcceptedNotes = {}
const noFields: readonly string[] = []
