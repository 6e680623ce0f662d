import type { JournalBatch, Offset } from '../journal/journal.ts'
import type { AlertCounts, AlertWatches, StreamWatch } from './alert-watches.ts'
import type { Consumer } from './consumer.ts'
import {
  type QuarantinedEntry,
  type QuarantineNotes,
  verdictCleared,
  verdictDowntime,
  verdictPosition,
  verdictRejudged,
  verdictRemoved,
} from './entry.ts'
import { EntryReader } from './entry-reader.ts'
import { StreamIds } from './stream-ids.ts'

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
  /** Of a stream that is fetched: how far its source has been read, as JSON. */
  position?: string
}

/** A tally that is being made. */
interface OpenTally extends StreamTally {
  readonly streamId: string
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
  readonly #streamIds = new StreamIds()
  #position: Offset
  #isUrgent = false

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

  /** As long as readings come by that rules want to see. */
  get isUrgent(): boolean {
    return this.#isUrgent
  }

  async handle(batches: readonly JournalBatch[]): Promise<void> {
    try {
      const needs = { streamIds: this.#streamIds, watches: this.#watches }
      const decision = await decide(batches, this.#position, needs)
      await this.#store.commit(decision)
      this.#position = decision.nextOffset
      this.#isUrgent = decision.tallies.values().some(({ alerts }) => alerts !== undefined)
    } catch (error) {
      this.#watches?.forget()
      throw error
    }
  }
}

interface DecidingNeeds {
  readonly streamIds: StreamIds
  readonly watches: AlertWatches | undefined
}

/** The same entries always lead to the same decision: it only waits where rules are to be looked up. */
async function decide(
  batches: readonly JournalBatch[],
  from: Offset,
  { streamIds, watches }: DecidingNeeds,
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
        if (entry.verdict === verdictDowntime) {
          await watches?.passDowntime(entry, offset)
          offset++
          continue
        }
        tally = emptyTally(streamIds.of(streamKey))
        byKey.set(streamKey, tally)
      }
      if (watches && entry.streamVersion > tally.version) {
        const { streamId } = tally
        // Thousands of streams are at hand as a rule, and to await each would cost more than to look.
        tally.watch ??=
          watches.watchAtHand(streamId) ??
          (await watches.watchOf(streamId, () => streamIdsIn(batches, streamIds)))
        const { watch } = tally
        if (watch && entry.streamVersion > watch.version) await watches.adopt(watch, entry, offset)
        tally.version = entry.streamVersion
        tally.rules = watch?.wantsReadings ? watch : undefined
      }
      count(tally, entry, offset)
      offset++
    }
  }
  const tallies = new Map<string, StreamTally>()
  for (const tally of byKey.values()) tallies.set(tally.streamId, closed(tally))
  return { from, nextOffset: offset, tallies }
}

function streamIdsIn(batches: readonly JournalBatch[], streamIds: StreamIds): Iterable<string> {
  const keys = new Set<string>()
  for (const { bytes } of batches) {
    const entry = new EntryReader(bytes)
    while (entry.next()) keys.add(entry.streamKey)
  }
  return [...keys].map((key) => streamIds.of(key))
}

function emptyTally(streamId: string): OpenTally {
  return {
    streamId,
    received: 0,
    accepted: 0,
    filtered: 0,
    lastReceivedAtUs: 0,
    day: 0,
    receivedOnDay: 0,
    quarantine: [],
    version: -1,
    watch: undefined,
    rules: undefined,
  }
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
  } else if (entry.verdict === verdictPosition) tally.position = entry.position
  else review(tally, entry, offset)
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
