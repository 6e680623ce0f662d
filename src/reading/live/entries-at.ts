import type { ErrorDetail } from '../../core/errors.ts'
import {
  type ClearedRange,
  kindCleared,
  kindRedriven,
  kindRedrivenFiltered,
  kindRemoved,
  kindUnfit,
  type Origin,
} from '../../ingest/pipeline/entry.ts'
import { markOf } from '../../ingest/pipeline/entry-bytes.ts'
import { EntryReader } from '../../ingest/pipeline/entry-reader.ts'
import type { JournalReader, Offset } from '../../storage/journal/journal.ts'
import { JournalMarks, markAt, noMark } from './journal-marks.ts'

/** As much as the journal keeps of what both consumers have passed; of more, the newest is searched. */
const searchedBytesMax = 64 * 1024 * 1024

/** Entries that one turn notes, so that those who follow streams do not wait long. */
const entriesOfTurn = 20_000

/** Actions on the quarantine, and removals, that are remembered: the newest ones. */
const actionsMax = 100_000

/** A question for the entries of one time. */
export interface EntriesAtRequest {
  /** The 16 bytes of the stream's id, as entries have it. */
  readonly streamKey: string
  readonly timestampUs: number
  /** Entries, and bytes of their readings, that one answer has at most. */
  readonly limit: number
  readonly bytesMax: number
}

/** An entry about a reading, as receipts show it. */
export interface FoundEntry {
  readonly offset: Offset
  readonly kind: number
  readonly streamVersion: number
  readonly receivedAtUs: number
  readonly digest: bigint
  /** Canonical JSON of the declared fields, and of the others, of a reading that is accepted. */
  readonly values?: string
  readonly extra?: string | undefined
  readonly flagged?: readonly string[] | undefined
  readonly sender?: string | undefined
  readonly origin?: Origin | undefined
  readonly refusal?: FoundRefusal
  /** What people did with it since, if it was refused. */
  readonly ended?: EndedRefusal | undefined
}

export interface FoundRefusal {
  readonly reason: string
  readonly message: string
  readonly details: readonly ErrorDetail[]
  readonly source: string
}

/** The entry of an action, which took a refused reading out of the quarantine. */
export interface EndedRefusal {
  readonly offset: Offset
  readonly isRedriven: boolean
}

export interface EntriesAt {
  /** In their order. */
  readonly entries: readonly FoundEntry[]
  readonly hasMore: boolean
  /** Removals of stored readings, of ranges with the time in them: the offset of each. */
  readonly removals: readonly Offset[]
  /** The search went from the first of these offsets up to the other one. */
  readonly from: Offset
  readonly until: Offset
  /** Whether the journal holds older entries, too: they were too many to be searched. */
  readonly isPart: boolean
}

/** What is read, and where its newest part begins. */
export interface SearchedJournal extends JournalReader {
  startOfNewest(bytesMax: number): Offset
}

interface Removal extends ClearedRange {
  readonly offset: Offset
  readonly streamKey: string
}

/**
 * Finds the entries of one stream and time. It notes four bytes for each entry when it is asked for the first time, and
 * after that those of what is new.
 */
export class JournalEntriesAt {
  readonly #journal: SearchedJournal
  readonly #marks: JournalMarks
  readonly #bytesMax: number
  readonly #ended = new Map<Offset, EndedRefusal>()
  #removals: Removal[] = []
  #hasBegun = false

  constructor(journal: SearchedJournal, bytesMax = searchedBytesMax) {
    this.#journal = journal
    this.#bytesMax = bytesMax
    this.#marks = new JournalMarks(bytesMax)
  }

  /** Notes some of what is new. Returns whether there is more before the offset. */
  note(until: Offset): boolean {
    if (!this.#hasBegun) {
      this.#hasBegun = true
      this.#marks.beginAt(this.#journal.startOfNewest(this.#bytesMax))
    }
    const from = this.#marks.next
    for (const { firstOffset, count, bytes } of this.#journal.read(from, entriesOfTurn)) {
      if (firstOffset + count <= this.#marks.next) continue
      // What was not noted in time has been trimmed.
      if (firstOffset > this.#marks.next) this.#marks.beginAt(firstOffset)
      const entry = new EntryReader(bytes, this.#marks.next - firstOffset)
      while (entry.next()) this.#noteEntry(entry)
    }
    return this.#marks.next > from && this.#marks.next < until
  }

  find({ streamKey, timestampUs, limit, bytesMax }: EntriesAtRequest): EntriesAt {
    const entries: FoundEntry[] = []
    let bytes = 0
    let hasMore = false
    for (const offset of this.#marks.find(markAt(markOf(streamKey), timestampUs))) {
      const entry = this.#entryAt(offset)
      if (entry?.streamKey !== streamKey || entry.timestampUs !== timestampUs) continue
      bytes += entry.bytes.end(entry.start) - entry.start
      hasMore = entries.length >= limit || (entries.length > 0 && bytes > bytesMax)
      if (hasMore) break
      entries.push(found(entry, offset, this.#ended.get(offset)))
    }
    const removals = this.#removals
      .filter((one) => one.streamKey === streamKey)
      .filter(({ startUs, endUs }) => startUs <= timestampUs && timestampUs < endUs)
      .map(({ offset }) => offset)
    const { first: from, next: until } = this.#marks
    const oldest = this.#journal.read(0, 1)[0]?.firstOffset ?? from
    return { entries, hasMore, removals, from, until, isPart: oldest < from }
  }

  #noteEntry(entry: EntryReader): void {
    const offset = this.#marks.next
    const bytes = entry.bytes.end(entry.start) - entry.start
    if (entry.isReview) this.#noteAction(entry, offset)
    this.#marks.add(
      isOfReading(entry) ? markAt(entry.streamMark, entry.timestampUs) : noMark,
      bytes,
    )
  }

  #noteAction(entry: EntryReader, offset: Offset): void {
    if (entry.kind === kindCleared) {
      this.#removals.push({ ...entry.clearedRange, offset, streamKey: entry.streamKey })
      if (this.#removals.length > actionsMax) this.#removals = this.#removals.slice(actionsMax / 10)
    } else if (entry.kind === kindRemoved) {
      for (const removed of entry.removalNotes.offsets) {
        this.#end(removed, { offset, isRedriven: false })
      }
    } else if (takesOut(entry.kind)) {
      const { origin } = entry.acceptedNotes
      if (origin !== undefined) this.#end(origin.offset, { offset, isRedriven: true })
    }
  }

  #end(refused: Offset, by: EndedRefusal): void {
    if (this.#ended.has(refused)) return
    this.#ended.set(refused, by)
    if (this.#ended.size <= actionsMax) return
    const [oldest] = this.#ended.keys()
    if (oldest !== undefined) this.#ended.delete(oldest)
  }

  /** Undefined for one that the journal does not hold any more. */
  #entryAt(offset: Offset): EntryReader | undefined {
    const [batch] = this.#journal.read(offset, 1)
    if (batch === undefined || batch.firstOffset > offset) return undefined
    const entry = new EntryReader(batch.bytes, offset - batch.firstOffset)
    return entry.next() ? entry : undefined
  }
}

function isOfReading({ isReview, kind }: EntryReader): boolean {
  return !isReview || takesOut(kind)
}

/** Whether entries of a kind bring a reading that comes out of the quarantine. */
function takesOut(kind: number): boolean {
  return kind === kindRedriven || kind === kindRedrivenFiltered || kind === kindUnfit
}

function found(entry: EntryReader, offset: Offset, ended: EndedRefusal | undefined): FoundEntry {
  const { kind, streamVersion, receivedAtUs, digest } = entry
  const header = { offset, kind, streamVersion, receivedAtUs, digest }
  if (entry.accepted || entry.filtered) {
    const { extra, flagged, sender, origin } = entry.acceptedNotes
    if (entry.filtered) return { ...header, sender, origin }
    return { ...header, sender, origin, extra, flagged, values: entry.values }
  }
  const { reason, message, details, source, sender, origin } = entry.quarantinedEntry().notes
  return { ...header, sender, origin, ended, refusal: { reason, message, details, source } }
}
