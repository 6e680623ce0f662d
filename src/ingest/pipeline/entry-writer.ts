import type { KeptContext } from '../../contracts/mapping.ts'
import type {
  AcceptedReading,
  FilteredReading,
  NamedVersion,
  RefusedReading,
} from '../../contracts/reading.ts'
import type { PayloadFormat } from '../../contracts/stream-schema.ts'
import { type StreamId, writeUuid } from '../../core/ids.ts'
import type { Offset } from '../../storage/journal/journal.ts'
import {
  type AcceptedNotes,
  type ClearedRange,
  entryFormat,
  headerBytes,
  kindAccepted,
  kindAlertAction,
  kindAlertTimer,
  kindCleared,
  kindClock,
  kindDowntime,
  kindFiltered,
  kindFleetRules,
  kindImported,
  kindPosition,
  kindQuarantined,
  kindRedriven,
  kindRedrivenFiltered,
  kindRejudged,
  kindRemoved,
  kindUnfit,
  type Origin,
  type QuarantineNotes,
  quarantineFormat,
  type RemovalNotes,
} from './entry.ts'
import { acceptedNotes, notesOf } from './entry-notes.ts'

/** Longest text of a UTF-16 unit in UTF-8. */
const utf8BytesPerUnit = 3

export interface WrittenEntries {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly count: number
  /** How many of them are readings that were refused when they came. */
  readonly quarantined: number
  /** How many of the others are kept from being stored by a filter. */
  readonly filtered: number
  /** How many of them are about what had come before: what people do with it. */
  readonly reviewed: number
}

/** What a refused reading was sent as: when, from where, and in which format (JSON unless said). */
export interface ReceivedBytes {
  readonly atUs: number
  readonly source: string
  readonly payload: Uint8Array
  readonly format?: PayloadFormat
  /** Whether the payload is one element of a batch. */
  readonly isElement?: boolean
  /** Who sent it, where the stream has several senders. */
  readonly sender?: string | undefined
  /** What is known of the message beside its bytes. */
  readonly context?: KeptContext | undefined
  /** As in `KeptReading`. */
  readonly place?: number
}

/** Writes entries one after the other into memory of its own, which grows as needed. */
export class EntryWriter {
  #buffer: Buffer
  #length = 0
  #count = 0
  #counts = { quarantined: 0, filtered: 0, reviewed: 0 }

  constructor(bytesInitial = 64 * 1024) {
    this.#buffer = Buffer.allocUnsafeSlow(bytesInitial)
  }

  get count(): number {
    return this.#count
  }

  get byteLength(): number {
    return this.#length
  }

  /** Keeps a reading to be stored; with an origin it comes out of the quarantine. */
  accepted(
    stream: NamedVersion,
    reading: AcceptedReading,
    receivedAtUs: number,
    origin?: Origin,
  ): void {
    const kind = origin === undefined ? kindAccepted : kindRedriven
    const notes = origin === undefined && isPlain(reading) ? '' : acceptedNotes(reading, origin)
    this.#toBeStored(stream, reading, { kind, receivedAtUs, notes })
  }

  /** Keeps a reading of a file to be stored: history, which moves no alert. */
  imported(stream: NamedVersion, reading: AcceptedReading, receivedAtUs: number): void {
    const notes = isPlain(reading) ? '' : acceptedNotes(reading, undefined)
    this.#toBeStored(stream, reading, { kind: kindImported, receivedAtUs, notes })
  }

  /** Keeps that a reading is not to be stored; with an origin it comes out of the quarantine. */
  filtered(
    stream: NamedVersion,
    reading: FilteredReading,
    receivedAtUs: number,
    origin?: Origin,
  ): void {
    const kind = origin === undefined ? kindFiltered : kindRedrivenFiltered
    const notes = origin === undefined ? '' : JSON.stringify({ origin } satisfies AcceptedNotes)
    this.#reserve(notes.length)
    const body = this.#header(stream, kind, receivedAtUs, reading.timestampUs)
    this.#buffer.write(reading.digest, this.#length + 42, 8, 'hex')
    if (kind === kindFiltered) this.#counts.filtered++
    this.#finish(this.#notes(body, notes))
  }

  /** Keeps a refused reading with the bytes as they arrived and where they came from. */
  quarantined(
    stream: NamedVersion,
    refusal: RefusedReading,
    received: ReceivedBytes,
    origin?: Origin,
  ): void {
    const { source, format = 'json', isElement = false, sender, context, place } = received
    const notes = {
      ...notesOf(refusal, source),
      ...(format !== 'json' && { format }),
      ...(isElement && { element: true as const }),
      ...(sender !== undefined && { sender }),
      ...(context !== undefined && { context }),
      ...(place !== undefined && { place }),
      ...(origin && { origin }),
    }
    const kind = origin === undefined ? kindQuarantined : kindUnfit
    this.#refused(stream, refusal, { ...received, kind, notes })
  }

  /** Keeps why an entry of the quarantine, which stays there, does not fit the newest version. */
  rejudged(
    stream: NamedVersion,
    refusal: RefusedReading,
    held: { readonly atUs: number; readonly source: string; readonly offset: Offset },
  ): void {
    const notes = { ...notesOf(refusal, held.source), origin: { offset: held.offset, index: 0 } }
    const { atUs } = held
    this.#refused(stream, refusal, { kind: kindRejudged, atUs, notes, payload: noBytes })
  }

  /** Keeps that a person has deleted these entries of the quarantine. */
  removed(stream: NamedVersion, offsets: readonly Offset[], atUs: number): void {
    const notes = JSON.stringify({ offsets } satisfies RemovalNotes)
    this.#without(stream, { kind: kindRemoved, atUs, notes })
  }

  /** Keeps that a person has removed the readings of a range of time. */
  cleared(stream: NamedVersion, range: ClearedRange, atUs: number): void {
    this.#without(stream, { kind: kindCleared, atUs, notes: JSON.stringify(range) })
  }

  /** Keeps that the timers of alerts that are due by a steady time have run out. */
  alertTimer(stream: NamedVersion, dueUs: number, atUs: number): void {
    this.#without(stream, { kind: kindAlertTimer, atUs, notes: '', timeUs: dueUs })
  }

  /** Keeps what somebody did to an alert. @param action JSON */
  alertAction(stream: NamedVersion, action: object, atUs: number): void {
    const notes = JSON.stringify(action)
    this.#without(stream, { kind: kindAlertAction, atUs, notes })
  }

  /** Keeps which rules of fleets hold for a stream from here on. @param rules JSON */
  fleetRules(stream: NamedVersion, rules: readonly object[], atUs: number): void {
    const notes = JSON.stringify(rules)
    this.#without(stream, { kind: kindFleetRules, atUs, notes })
  }

  /** Keeps that nobody could be heard from a steady time on until now, on any stream. */
  downtime(fromUs: number, atUs: number): void {
    this.#without(noStream, { kind: kindDowntime, atUs, notes: '', timeUs: fromUs })
  }

  /** Keeps what the wall clock shows at a moment of steady time. */
  clock(steadyUs: number, wallUs: number): void {
    this.#without(noStream, { kind: kindClock, atUs: wallUs, notes: '', timeUs: steadyUs })
  }

  /** Keeps how far the source of a stream has been read. @param position JSON */
  position(stream: NamedVersion, position: string, atUs: number): void {
    this.#without(stream, { kind: kindPosition, atUs, notes: position })
  }

  /** Hands out what was written, in memory of its own, and starts anew. */
  take(): WrittenEntries {
    const bytes = new Uint8Array(this.#length)
    bytes.set(this.#buffer.subarray(0, this.#length))
    const taken = { bytes, count: this.#count, ...this.#counts }
    this.#length = 0
    this.#count = 0
    this.#counts = { quarantined: 0, filtered: 0, reviewed: 0 }
    return taken
  }

  /** Keeps what is no reading: an entry without a body. */
  #without(
    stream: NamedVersion,
    entry: {
      readonly kind: number
      readonly atUs: number
      readonly notes: string
      readonly timeUs?: number
    },
  ): void {
    const { kind, atUs, notes, timeUs = Number.NaN } = entry
    this.#reserve(notes.length * utf8BytesPerUnit)
    const body = this.#header(stream, kind, atUs, timeUs)
    this.#noDigest()
    this.#finish(this.#notes(body, notes))
  }

  #toBeStored(
    stream: NamedVersion,
    reading: AcceptedReading,
    entry: { readonly kind: number; readonly receivedAtUs: number; readonly notes: string },
  ): void {
    const { kind, receivedAtUs, notes } = entry
    this.#reserve((notes.length + reading.values.length) * utf8BytesPerUnit)
    const body = this.#header(stream, kind, receivedAtUs, reading.timestampUs)
    this.#buffer.write(reading.digest, this.#length + 42, 8, 'hex')
    const notesEnd = this.#notes(body, notes)
    this.#finish(notesEnd + this.#buffer.write(reading.values, notesEnd, 'utf8'))
  }

  #refused(
    stream: NamedVersion,
    { timestampUs = Number.NaN }: RefusedReading,
    entry: Pick<ReceivedBytes, 'atUs' | 'payload'> & {
      readonly kind: number
      readonly notes: QuarantineNotes
    },
  ): void {
    const { kind, atUs, payload } = entry
    const notes = JSON.stringify(entry.notes)
    this.#reserve(notes.length * utf8BytesPerUnit + payload.byteLength)
    const body = this.#header(stream, kind, atUs, timestampUs)
    this.#noDigest()
    const notesEnd = this.#notes(body, notes)
    this.#buffer.set(payload, notesEnd)
    if (kind === kindQuarantined) this.#counts.quarantined++
    this.#finish(notesEnd + payload.byteLength)
  }

  #reserve(contentBytes: number): void {
    const needed = this.#length + headerBytes + contentBytes
    if (needed <= this.#buffer.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2))
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
  }

  #header(stream: NamedVersion, kind: number, receivedAtUs: number, timeUs: number): number {
    const at = this.#length
    const buffer = this.#buffer
    const isFirst = kind <= kindQuarantined || kind === kindFiltered || kind === kindImported
    buffer[at + 4] = isFirst ? entryFormat : quarantineFormat
    buffer[at + 5] = kind
    writeUuid(stream.streamId, buffer, at + 6)
    buffer.writeUInt32LE(stream.version, at + 22)
    buffer.writeDoubleLE(receivedAtUs, at + 26)
    buffer.writeDoubleLE(timeUs, at + 34)
    return at + headerBytes
  }

  #notes(at: number, notes: string): number {
    const written = notes === '' ? 0 : this.#buffer.write(notes, at, 'utf8')
    this.#buffer.writeUInt32LE(written, at - 4)
    return at + written
  }

  /** The buffer holds what was written before. */
  #noDigest(): void {
    this.#buffer.fill(0, this.#length + 42, this.#length + 50)
  }

  #finish(end: number): void {
    if (this.#buffer[this.#length + 4] === quarantineFormat) this.#counts.reviewed++
    this.#buffer.writeUInt32LE(end - this.#length - 4, this.#length)
    this.#length = end
    this.#count++
  }
}

/** Whether there is nothing to be said of a reading beside its values. */
function isPlain({ extra, flagged, sender }: AcceptedReading): boolean {
  return extra === '' && flagged.length === 0 && sender === undefined
}

/** RFC 9562, section 5.9: the id of nothing. */
const noStream: NamedVersion = {
  streamId: '00000000-0000-0000-0000-000000000000' as StreamId,
  version: 0,
}

const noBytes = new Uint8Array(0)
