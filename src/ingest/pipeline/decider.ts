import type { JournalBatch, Offset } from '../../storage/journal/journal.ts'
import type { Activity } from '../activity/activity.ts'
import type { AlertWatches } from './alert-watches.ts'
import type { Consumer } from './consumer.ts'
import {
  kindCleared,
  kindClock,
  kindDowntime,
  kindPosition,
  kindRejudged,
  kindRemoved,
  streamIdOf,
  streamKeyOf,
} from './entry.ts'
import { EntryReader } from './entry-reader.ts'
import { type SealMark, SealMarks } from './seal-marks.ts'
import { type OpenTally, type StreamTally, Tallies } from './tallies.ts'

const usPerDay = 86_400_000_000

/**
 * Each stream of a round is a row to be written, so rounds about thousands of streams are larger, within what may be
 * held in memory.
 */
const entriesPerStream = 10
const entriesMaxSpread = 100_000

/** All that follows from a stretch of the journal. Nothing has happened yet. */
export interface Decision {
  readonly from: Offset
  readonly nextOffset: Offset
  /** One for each stream that has entries in it; they hold until the next stretch is decided. */
  readonly tallies: readonly StreamTally[]
  /** Stretches whose readings are to be sealed. */
  readonly marks: readonly SealMark[]
}

/** Where decisions become effects: all of one in one transaction, with its position. */
export interface DecisionStore {
  position(): Promise<Offset>
  /** @throws Error when the stored position is not `from`: somebody else is deciding too. */
  commit(decision: Decision): Promise<void>
}

export interface DeciderNeeds {
  readonly store: DecisionStore
  readonly watches: AlertWatches | undefined
  readonly activity: Pick<Activity, 'noteDecided'> | undefined
  readonly marks: SealMarks
}

/** Right of the journal, towards state: counters, quarantine, alerts. It never waits for the store. */
export class Decider implements Consumer {
  readonly name = 'decider'
  readonly #needs: DeciderNeeds
  readonly #tallies = new Tallies()
  #position: Offset
  #isUrgent = false
  #entriesWanted = 0

  private constructor(needs: DeciderNeeds, position: Offset) {
    this.#needs = needs
    this.#position = position
  }

  /** @param parts without watches there are no alerts, and no seals */
  static async open(
    store: DecisionStore,
    { watches, activity, marks = new SealMarks() }: Partial<Omit<DeciderNeeds, 'store'>> = {},
  ): Promise<Decider> {
    const position = await store.position()
    marks.begin(position)
    return new Decider({ store, watches, activity, marks }, position)
  }

  position(): Offset {
    return this.#position
  }

  /** Streams that are at hand. */
  get streamsAtHand(): number {
    return this.#tallies.size
  }

  /** To be told of streams that are gone, once it has passed all their entries. */
  forgetStreams(streamIds: readonly string[]): void {
    this.#tallies.forget(streamIds.map(streamKeyOf))
  }

  /** As long as readings come by that rules want to see. */
  get isUrgent(): boolean {
    return this.#isUrgent
  }

  /** Alerts must not wait for a large round. */
  get entriesWanted(): number {
    return this.#isUrgent ? 0 : this.#entriesWanted
  }

  async handle(batches: readonly JournalBatch[]): Promise<void> {
    const { store, watches, activity, marks } = this.#needs
    try {
      const needs = { tallies: this.#tallies, watches, marks }
      const decision = await decide(batches, this.#position, needs)
      await store.commit(decision)
      marks.noteWritten(decision.marks.length)
      this.#position = decision.nextOffset
      const { tallies } = decision
      this.#isUrgent = tallies.some(({ alerts }) => alerts !== undefined)
      this.#entriesWanted = Math.min(tallies.length * entriesPerStream, entriesMaxSpread)
      await activity?.noteDecided(tallies)
    } catch (error) {
      watches?.forget()
      marks.forget()
      throw error
    }
  }
}

interface DecidingNeeds {
  readonly tallies: Tallies
  readonly watches: AlertWatches | undefined
  readonly marks: SealMarks
}

/**
 * Decides; equal entries always lead to the same decision. It only waits where rules are to be
 * looked up.
 */
async function decide(
  batches: readonly JournalBatch[],
  from: Offset,
  { tallies, watches, marks }: DecidingNeeds,
): Promise<Decision> {
  tallies.begin()
  const last = batches.at(-1)
  marks.begin(last ? last.firstOffset + last.count : from)
  let offset = from
  for (const { firstOffset, bytes } of batches) {
    if (firstOffset !== offset) {
      throw new Error(`the journal has no entry ${offset}: it goes on at ${firstOffset}`)
    }
    const entry = new EntryReader(bytes)
    while (entry.next()) {
      const { streamKey } = entry
      let tally = tallies.known(streamKey)
      if (!tally) {
        if (entry.kind === kindDowntime || entry.kind === kindClock) {
          if (entry.kind === kindClock) await watches?.passClock(entry)
          else await watches?.passDowntime(entry, offset)
          offset++
          continue
        }
        tally = tallies.open(streamKey)
      }
      if (watches && entry.streamVersion > tally.version) {
        const { streamId } = tally
        // Thousands of streams are at hand as a rule, and to await each would cost more than to look.
        tally.watch ??=
          watches.watchAtHand(streamId) ??
          (await watches.watchOf(streamId, () => streamIdsIn(batches)))
        const { watch } = tally
        if (watch && entry.streamVersion > watch.version) await watches.adopt(watch, entry, offset)
        tally.version = entry.streamVersion
        tally.rules = watch?.wantsReadings ? watch : undefined
        tally.sealUs = watch?.sealUs
        tally.markedFromUs = Number.NaN
      }
      count(tally, entry, offset)
      if (tally.sealUs !== undefined && entry.accepted) marks.see(tally, entry, offset)
      offset++
    }
  }
  for (const tally of tallies.all) tally.alerts = tally.rules?.counted()
  return { from, nextOffset: offset, tallies: tallies.all, marks: marks.take() }
}

function streamIdsIn(batches: readonly JournalBatch[]): Iterable<string> {
  const keys = new Set<string>()
  for (const { bytes } of batches) {
    const entry = new EntryReader(bytes)
    while (entry.next()) keys.add(entry.streamKey)
  }
  return [...keys].map(streamIdOf)
}

function count(tally: OpenTally, entry: EntryReader, offset: Offset): void {
  if (!entry.isReview) {
    countReceipt(tally, entry)
    countOutcome(tally, entry, offset)
    tally.rules?.see(entry, offset)
  } else if (entry.isAboutAlerts) {
    tally.watch?.see(entry, offset)
    tally.rules = tally.watch?.wantsReadings ? tally.watch : undefined
  } else if (entry.kind === kindPosition) tally.position = entry.position
  else review(tally, entry, offset)
}

function countOutcome(tally: StreamTally, entry: EntryReader, offset: Offset): void {
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
  // Stored readings are a matter of the shipper's.
  if (entry.kind === kindCleared) return
  if (entry.kind === kindRemoved) {
    for (const removed of entry.removalNotes.offsets) {
      quarantine.push({ kind: 'removed', offset: removed })
    }
    return
  }
  const { origin } = entry.acceptedNotes
  if (origin === undefined) throw new Error(`the entry ${offset} does not say what it is about`)
  if (entry.kind === kindRejudged) {
    const { streamVersion, timestampUs, notes } = entry.quarantinedEntry()
    const rejudged = { offset: origin.offset, streamVersion, timestampUs, notes }
    quarantine.push({ kind: 'rejudged', rejudged })
    return
  }
  // The first reading takes the place of the entry; more that came along are received here.
  if (origin.index === 0) quarantine.push({ kind: 'redriven', offset: origin.offset })
  else countReceipt(tally, entry)
  countOutcome(tally, entry, offset)
}
