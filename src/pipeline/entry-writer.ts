import { uuidBytes } from '../core/ids.ts'
import {
  type AcceptedNotes,
  entryFormat,
  headerBytes,
  type QuarantineNotes,
  verdictAccepted,
  verdictQuarantined,
} from './entry.ts'
import type { AcceptedReading, RefusedReading, StreamVersion } from './reading.ts'
import type { PayloadFormat } from './stream-schema.ts'

/** What a refused reading was sent as: when, from where, and in which format (JSON unless said). */
export interface ReceivedBytes {
  readonly atUs: number
  readonly source: string
  readonly payload: Uint8Array
  readonly format?: PayloadFormat
}

/** Longest text of a UTF-16 unit in UTF-8. */
const utf8BytesPerUnit = 3

export interface WrittenEntries {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly count: number
  /** How many of them are refused readings. */
  readonly quarantined: number
}

/** Writes entries one after the other into memory of its own, which grows as needed. */
export class EntryWriter {
  #buffer: Buffer
  #length = 0
  #count = 0
  #quarantined = 0
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
  quarantined(stream: StreamVersion, refusal: RefusedReading, received: ReceivedBytes): void {
    const { reason, message, details } = refusal
    const { source, format = 'json' } = received
    const kept: QuarantineNotes = {
      reason,
      message,
      details,
      source,
      ...(format !== 'json' && { format }),
    }
    const notes = JSON.stringify(kept)
    this.#reserve(notes.length * utf8BytesPerUnit + received.payload.byteLength)
    const timestampUs = refusal.timestampUs ?? Number.NaN
    const body = this.#header(stream, verdictQuarantined, received.atUs, timestampUs)
    this.#buffer.fill(0, this.#length + 42, this.#length + 50)
    const notesEnd = this.#notes(body, notes)
    this.#buffer.set(received.payload, notesEnd)
    this.#quarantined++
    this.#finish(notesEnd + received.payload.byteLength)
  }

  /** Hands out what was written, in memory of its own, and starts anew. */
  take(): WrittenEntries {
    const bytes = new Uint8Array(this.#length)
    bytes.set(this.#buffer.subarray(0, this.#length))
    const taken = { bytes, count: this.#count, quarantined: this.#quarantined }
    this.#length = 0
    this.#count = 0
    this.#quarantined = 0
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
