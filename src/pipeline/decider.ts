import type { JournalBatch, Offset } from '../journal/journal.ts'
import type { AlertCounts, AlertWatches, StreamWatch } from './alert-watches.ts'
import type { Consumer } from './consumer.ts'
import {
  type QuarantinedEntry,
  type QuarantineNotes,
  streamIdOf,
  verdictCleared,
  verdictRejudged,
  verdictRemoved,
} from './entry.ts'
import { EntryReader } from './entry-reader.ts'

const usPerDay = 86_400_000_000

/** What a stretch of the journal adds to the counters of one stream. */
export interface StreamTally {
  received: number
  accepted: number
  filtered: number
  lastReceivedAtUs: number
  /** Newest day (UTC, since the epoch) of receipt, and what was received on it. */
  day: number
  receivedOnDay: number
  /** What becomes of the stream's quarantine, in the order of the journal. */
  readonly quarantine: QuarantineChange[]
  /** Of a stream with rules. */
  alerts?: AlertCounts
}

/** A tally that is being made. */
interface OpenTally extends StreamTally {
  /** The newest version that has come by. */
  version: number
  watch: StreamWatch | undefined
  /** The same, where there are rules that want to see readings. */
  rules: StreamWatch | undefined
}

export interface RefusedEntry {
  readonly offset: Offset
  readonly entry: QuarantinedEntry
}

export interface RejudgedEntry {
  /** The entry of the quarantine that stays. */
  readonly offset: Offset
  readonly streamVersion: number
  readonly timestampUs: number | undefined
  readonly notes: QuarantineNotes
}

export type QuarantineChange =
  | { readonly kind: 'refused'; readonly refused: RefusedEntry }
  | { readonly kind: 'rejudged'; readonly rejudged: RejudgedEntry }
  /** Left, because what it held has an entry of its own now. */
  | { readonly kind: 'redriven'; readonly offset: Offset }
  | { readonly kind: 'removed'; readonly offset: Offset }

/** All that follows from a stretch of the journal. Nothing has happened yet. */
export interface Decision {
  readonly from: Offset
  readonly nextOffset: Offset
  readonly tallies: ReadonlyMap<string, StreamTally>
}

/** Where decisions become effects: all of one in one transaction, with its position. */
export interface DecisionStore {
  position(): Promise<Offset>
  /** @throws Error when the stored position is not `from`: somebody else is deciding too. */
  commit(decision: Decision): Promise<void>
}

/** Right of the journal, towards state: counters, quarantine, alerts. It never waits for the store. */
export class Decider implements Consumer {
  readonly name = 'decider'
  readonly #store: DecisionStore
  readonly #watches: AlertWatches | undefined
  #position: Offset

  private constructor(store: DecisionStore, position: Offset, watches: AlertWatches | undefined) {
    this.#store = store
    this.#position = position
    this.#watches = watches
  }

  /** @param watches without it there are no alerts */
  static async open(store: DecisionStore, watches?: AlertWatches): Promise<Decider> {
    return new Decider(store, await store.position(), watches)
  }

  position(): Offset {
    return this.#position
  }

  async handle(batches: readonly JournalBatch[]): Promise<void> {
    try {
      const decision = await decide(batches, this.#position, this.#watches)
      await this.#store.commit(decision)
      this.#position = decision.nextOffset
    } catch (error) {
      this.#watches?.forget()
      throw error
    }
  }
}

/** The same entries always lead to the same decision: it only waits where rules are to be looked up. */
async function decide(
  batches: readonly JournalBatch[],
  from: Offset,
  watches: AlertWatches | undefined,
): Promise<Decision> {
  const byKey = new Map<string, OpenTally>()
  let offset = from
  for (const { firstOffset, bytes } of batches) {
    if (firstOffset !== offset) {
      throw new Error(`the journal has no entry ${offset}: it goes on at ${firstOffset}`)
    }
    const entry = new EntryReader(bytes)
    while (entry.next()) {
      const { streamKey } = entry
      let tally = byKey.get(streamKey)
      if (!tally) {
        tally = emptyTally()
        byKey.set(streamKey, tally)
      }
      if (watches && entry.streamVersion > tally.version) {
        tally.watch ??= await watches.watchOf(streamIdOf(streamKey), () => streamIdsIn(batches))
        await adopt(watches, tally, entry, offset)
      }
      count(tally, entry, offset)
      offset++
    }
  }
  const tallies = new Map([...byKey].map(([key, tally]) => [streamIdOf(key), closed(tally)]))
  return { from, nextOffset: offset, tallies }
}

/** Lets the rules of a version hold from its first entry on. */
async function adopt(
  watches: AlertWatches,
  tally: OpenTally,
  entry: EntryReader,
  offset: Offset,
): Promise<void> {
  tally.version = entry.streamVersion
  if (!tally.watch) return
  await watches.adopt(tally.watch, entry, offset)
  tally.rules = tally.watch.wantsReadings ? tally.watch : undefined
}

function streamIdsIn(batches: readonly JournalBatch[]): Iterable<string> {
  const keys = new Set<string>()
  for (const { bytes } of batches) {
    const entry = new EntryReader(bytes)
    while (entry.next()) keys.add(entry.streamKey)
  }
  return [...keys].map(streamIdOf)
}

function emptyTally(): OpenTally {
  const counts = { received: 0, accepted: 0, filtered: 0 }
  const receipts = { lastReceivedAtUs: 0, day: 0, receivedOnDay: 0 }
  return { ...counts, ...receipts, quarantine: [], version: -1, watch: undefined, rules: undefined }
}

function closed(tally: OpenTally): StreamTally {
  if (tally.rules) tally.alerts = tally.rules.counted()
  return tally
}

function count(tally: OpenTally, entry: EntryReader, offset: Offset): void {
  if (!entry.isReview) {
    countReceipt(tally, entry)
    countVerdict(tally, entry, offset)
    tally.rules?.see(entry, offset)
  } else if (entry.isAboutAlerts) {
    tally.watch?.see(entry, offset)
    tally.rules = tally.watch?.wantsReadings ? tally.watch : undefined
  } else review(tally, entry, offset)
}

function countVerdict(tally: StreamTally, entry: EntryReader, offset: Offset): void {
  if (entry.accepted) tally.accepted++
  else if (entry.filtered) tally.filtered++
  else {
    tally.quarantine.push({ kind: 'refused', refused: { offset, entry: entry.quarantinedEntry() } })
  }
}

function countReceipt(tally: StreamTally, { receivedAtUs }: EntryReader): void {
  tally.received++
  tally.lastReceivedAtUs = Math.max(tally.lastReceivedAtUs, receivedAtUs)
  const day = Math.floor(receivedAtUs / usPerDay)
  if (day > tally.day) {
    tally.day = day
    tally.receivedOnDay = 0
  }
  if (day === tally.day) tally.receivedOnDay++
}

/** Takes an entry about what has been received before. */
function review(tally: StreamTally, entry: EntryReader, offset: Offset): void {
  const { quarantine } = tally
  // Of stored readings: a matter of the shipper's.
  if (entry.verdict === verdictCleared) return
  if (entry.verdict === verdictRemoved) {
    for (const removed of entry.removalNotes.offsets) {
      quarantine.push({ kind: 'removed', offset: removed })
    }
    return
  }
  const { origin } = entry.acceptedNotes
  if (origin === undefined) throw new Error(`the entry ${offset} does not say what it is about`)
  if (entry.verdict === verdictRejudged) {
    const { streamVersion, timestampUs, notes } = entry.quarantinedEntry()
    const rejudged = { offset: origin.offset, streamVersion, timestampUs, notes }
    quarantine.push({ kind: 'rejudged', rejudged })
    return
  }
  // The first reading takes the place of the entry; more that came along are received here.
  if (origin.index === 0) quarantine.push({ kind: 'redriven', offset: origin.offset })
  else countReceipt(tally, entry)
  countVerdict(tally, entry, offset)
}
