import type { JournalBatch, Offset } from '../journal/journal.ts'
import type { Consumer } from './consumer.ts'
import { type QuarantinedEntry, streamIdOf } from './entry.ts'
import { EntryReader } from './entry-reader.ts'

const usPerDay = 86_400_000_000

/** What a stretch of the journal adds to the counters of one stream. */
export interface StreamTally {
  received: number
  accepted: number
  lastReceivedAtUs: number
  /** Newest day (UTC, since the epoch) of receipt, and what was received on it. */
  day: number
  receivedOnDay: number
  readonly refused: RefusedEntry[]
}

export interface RefusedEntry {
  readonly offset: Offset
  readonly entry: QuarantinedEntry
}

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

/** Right of the journal, towards state: counters and quarantine. It never waits for the store. */
export class Decider implements Consumer {
  readonly name = 'decider'
  readonly #store: DecisionStore
  #position: Offset

  private constructor(store: DecisionStore, position: Offset) {
    this.#store = store
    this.#position = position
  }

  static async open(store: DecisionStore): Promise<Decider> {
    return new Decider(store, await store.position())
  }

  position(): Offset {
    return this.#position
  }

  async handle(batches: readonly JournalBatch[]): Promise<void> {
    const decision = decide(batches, this.#position)
    await this.#store.commit(decision)
    this.#position = decision.nextOffset
  }
}

/** Pure: the same entries always lead to the same decision. */
function decide(batches: readonly JournalBatch[], from: Offset): Decision {
  const byKey = new Map<string, StreamTally>()
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
      count(tally, entry, offset)
      offset++
    }
  }
  const tallies = new Map([...byKey].map(([key, tally]) => [streamIdOf(key), tally]))
  return { from, nextOffset: offset, tallies }
}

function emptyTally(): StreamTally {
  return { received: 0, accepted: 0, lastReceivedAtUs: 0, day: 0, receivedOnDay: 0, refused: [] }
}

function count(tally: StreamTally, entry: EntryReader, offset: Offset): void {
  const { receivedAtUs } = entry
  tally.received++
  tally.lastReceivedAtUs = Math.max(tally.lastReceivedAtUs, receivedAtUs)
  const day = Math.floor(receivedAtUs / usPerDay)
  if (day > tally.day) {
    tally.day = day
    tally.receivedOnDay = 0
  }
  if (day === tally.day) tally.receivedOnDay++
  if (entry.accepted) tally.accepted++
  else tally.refused.push({ offset, entry: entry.quarantinedEntry() })
}
