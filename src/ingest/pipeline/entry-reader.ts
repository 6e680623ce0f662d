import { parseJson } from '../../core/parse-json.ts'
import {
  type AcceptedEntry,
  type AcceptedNotes,
  type ClearedRange,
  type Entry,
  EntryFormatError,
  entryFormat,
  type FilteredEntry,
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
  type QuarantinedEntry,
  type QuarantineNotes,
  quarantineFormat,
  type RemovalNotes,
} from './entry.ts'
import { EntryBytes } from './entry-bytes.ts'

/**
 * Walks over a batch of entries. It stands on one entry at a time and reads of it what is asked
 * for, so that counting a million entries makes no million objects.
 */
export class EntryReader {
  readonly bytes: EntryBytes
  #at = 0
  #end = 0
  #kind = 0

  /** @throws EntryFormatError as `next` does */
  constructor(bytes: Uint8Array, skipped = 0) {
    this.bytes = new EntryBytes(bytes)
    for (let left = skipped; left > 0 && this.#end < this.bytes.length; left--) this.#step()
  }

  /**
   * Goes to the next entry; false when there is none. Before the first call there is nothing to
   * read.
   *
   * @throws EntryFormatError for an entry of another format or with a length that cannot be: it is
   *   refused, never misread.
   */
  next(): boolean {
    if (this.#end >= this.bytes.length) return false
    this.#step()
    this.#kind = this.bytes.kind(this.#at)
    if (!kindsOf(this.bytes.format(this.#at)).includes(this.#kind)) {
      throw new EntryFormatError(`the entry at byte ${this.#at} has an unknown verdict`)
    }
    if (this.bytes.notesEnd(this.#at) > this.#end) {
      throw new EntryFormatError(`the notes at byte ${this.#at} have no end`)
    }
    return true
  }

  get kind(): number {
    return this.#kind
  }

  /** Whether it brings a reading that is to be stored. */
  get accepted(): boolean {
    const kind = this.#kind
    return kind === kindAccepted || kind === kindImported || kind === kindRedriven
  }

  /** Whether a filter has kept its reading from being stored. */
  get filtered(): boolean {
    return this.#kind === kindFiltered || this.#kind === kindRedrivenFiltered
  }

  /** Whether it is about what an earlier entry has brought. */
  get isReview(): boolean {
    return this.bytes.format(this.#at) === quarantineFormat
  }

  /** Whether it moves alerts without a reading: it is nobody's, and of no count. */
  get isAboutAlerts(): boolean {
    const kind = this.#kind
    return (kind >= kindAlertTimer && kind <= kindDowntime) || kind === kindClock
  }

  /** Whether it counts as received: what an earlier entry has received does not. */
  get received(): boolean {
    if (!this.isReview) return true
    const isOfReading = this.accepted || this.filtered || this.#kind === kindUnfit
    return isOfReading && (this.acceptedNotes.origin?.index ?? 0) > 0
  }

  /** Byte at which the entry begins. */
  get start(): number {
    return this.#at
  }

  get streamKey(): string {
    return this.bytes.streamKey(this.#at)
  }

  /** A number that is quickly read, to pass over what is of other streams. */
  get streamMark(): number {
    return this.bytes.streamMark(this.#at)
  }

  get streamVersion(): number {
    return this.bytes.streamVersion(this.#at)
  }

  get receivedAtUs(): number {
    return this.bytes.receivedAtUs(this.#at)
  }

  /** NaN when the reading claims no time. */
  get timestampUs(): number {
    return this.bytes.timestampUs(this.#at)
  }

  get digest(): bigint {
    return this.bytes.digest(this.#at)
  }

  /** The canonical JSON of the declared fields of an accepted entry. */
  get values(): string {
    return this.bytes.text(this.#at)
  }

  /** Notes of an entry that is accepted or has an origin: most have none. */
  get acceptedNotes(): AcceptedNotes {
    const notes = this.#notes
    return notes === '' ? noNotes : (parseJson(notes) as AcceptedNotes)
  }

  /** Notes of a removal. */
  get removalNotes(): RemovalNotes {
    return JSON.parse(this.#notes) as RemovalNotes
  }

  /** The range of an entry that removes stored readings. */
  get clearedRange(): ClearedRange {
    return JSON.parse(this.#notes) as ClearedRange
  }

  /** Notes of what somebody did to an alert, and of rules of fleets: JSON. */
  get alertNotes(): unknown {
    return JSON.parse(this.#notes)
  }

  /** How far a source has been read: JSON. */
  get position(): string {
    return this.#notes
  }

  /** The whole of an entry about a reading. */
  entry(): Entry {
    if (this.accepted) return this.#acceptedEntry()
    return this.filtered ? this.#filteredEntry() : this.quarantinedEntry()
  }

  /** The whole of an entry that is quarantined. */
  quarantinedEntry(): QuarantinedEntry {
    const { streamKey, streamVersion, receivedAtUs, timestampUs } = this
    return {
      streamKey,
      streamVersion,
      receivedAtUs,
      accepted: false,
      timestampUs: Number.isNaN(timestampUs) ? undefined : timestampUs,
      notes: parseJson(this.#notes) as QuarantineNotes,
      payload: this.bytes.body(this.#at),
    }
  }

  #acceptedEntry(): AcceptedEntry {
    const { streamKey, streamVersion, receivedAtUs, timestampUs, digest, values } = this
    const { extra, flagged = [] } = this.acceptedNotes
    const header = { streamKey, streamVersion, receivedAtUs, timestampUs }
    return { ...header, accepted: true, digest, values, extra, flagged }
  }

  #filteredEntry(): FilteredEntry {
    const { streamKey, streamVersion, receivedAtUs, timestampUs, digest } = this
    const header = { streamKey, streamVersion, receivedAtUs, timestampUs }
    return { ...header, accepted: false, filtered: true, digest }
  }

  get #notes(): string {
    return this.bytes.notes(this.#at)
  }

  #step(): void {
    const at = this.#end
    const { bytes } = this
    if (at + 5 > bytes.length) throw new EntryFormatError(`the entry at byte ${at} is cut off`)
    const format = bytes.format(at)
    if (format !== entryFormat && format !== quarantineFormat) {
      throw new EntryFormatError(
        `the entry at byte ${at} has format ${format}; this version reads format ${quarantineFormat}`,
      )
    }
    const end = bytes.end(at)
    if (end > bytes.length || end < at + headerBytes) {
      throw new EntryFormatError(`the entry at byte ${at} has an impossible length`)
    }
    this.#at = at
    this.#end = end
  }
}

/** First of all what a reading was when it came; then what people do with the quarantine. */
function kindsOf(format: number): readonly number[] {
  return format === entryFormat ? firstKinds : reviewKinds
}

const firstKinds = [kindAccepted, kindQuarantined, kindFiltered, kindImported]
const reviewKinds = [
  kindRedriven,
  kindUnfit,
  kindRejudged,
  kindRemoved,
  kindRedrivenFiltered,
  kindAlertTimer,
  kindAlertAction,
  kindFleetRules,
  kindDowntime,
  kindPosition,
  kindCleared,
  kindClock,
]

const noNotes: AcceptedNotes = {}

/** All entries of a batch, without the first `skipped` ones. @throws EntryFormatError */
export function* readEntries(bytes: Uint8Array, skipped = 0): Generator<Entry> {
  const reader = new EntryReader(bytes, skipped)
  while (reader.next()) yield reader.entry()
}
