import type { AlertCounts, StreamWatch } from './alert-watches.ts'
import { streamIdOf } from './entry.ts'
import type { QuarantineChange } from './quarantine-changes.ts'

/** What a stretch of the journal adds to the counters of one stream. */
export interface StreamTally {
  readonly streamId: string
  received: number
  accepted: number
  filtered: number
  lastReceivedAtUs: number
  /** Newest day (UTC, since the epoch) of receipt, and what was received on it. */
  day: number
  receivedOnDay: number
  /** What becomes of the stream's quarantine, in the order of the journal. */
  quarantine: QuarantineChange[]
  /** Counts for alerts, where the stream has rules. */
  alerts: AlertCounts | undefined
  /** How far the source of a stream that is fetched has been read, as JSON. */
  position: string | undefined
}

/** A tally that is being made. */
export interface OpenTally extends StreamTally {
  /** The newest version that has come by. */
  version: number
  watch: StreamWatch | undefined
  /** The watch, where there are rules that want to see readings. */
  rules: StreamWatch | undefined
  /** How long the stretches are whose readings are sealed, in microseconds; nothing where none are. */
  sealUs: number | undefined
  /** Where the stretch begins that was marked last; NaN: none was. */
  markedFromUs: number
  /** The stretch that it is about. */
  stretch: number
}

/** Tallies that are kept for the next stretch. */
const keptMax = 100_000

/**
 * The tallies of one stretch after the other. Each stream has one object, which is used again: to make
 * thousands with each stretch, which live for as long as it takes, would keep the garbage collector busy.
 */
export class Tallies {
  readonly #byKey = new Map<string, OpenTally>()
  #open: OpenTally[] = []
  #stretch = 0

  /** Tallies that are kept. */
  get size(): number {
    return this.#byKey.size
  }

  /** Tallies of the stretch: they say something else once the next one has begun. */
  get all(): readonly OpenTally[] {
    return this.#open
  }

  /** Begins a stretch, in which nothing has been counted. */
  begin(): void {
    this.#stretch++
    // What it holds goes now: a stream may not come by again for long.
    for (const tally of this.#open) empty(tally)
    this.#open = []
    if (this.#byKey.size > keptMax) this.#byKey.clear()
  }

  /** To be told of streams that will not come by again. */
  forget(streamKeys: Iterable<string>): void {
    for (const key of streamKeys) this.#byKey.delete(key)
  }

  /** The tally of a stream that has come by in this stretch. */
  known(streamKey: string): OpenTally | undefined {
    const tally = this.#byKey.get(streamKey)
    return tally?.stretch === this.#stretch ? tally : undefined
  }

  /** An empty tally for a stream that has not come by in this stretch. */
  open(streamKey: string): OpenTally {
    let tally = this.#byKey.get(streamKey)
    if (!tally) {
      tally = newTally(streamIdOf(streamKey))
      this.#byKey.set(streamKey, tally)
    }
    tally.stretch = this.#stretch
    this.#open.push(tally)
    return tally
  }
}

function newTally(streamId: string): OpenTally {
  return {
    streamId,
    received: 0,
    accepted: 0,
    filtered: 0,
    lastReceivedAtUs: 0,
    day: 0,
    receivedOnDay: 0,
    quarantine: [],
    alerts: undefined,
    position: undefined,
    version: -1,
    watch: undefined,
    rules: undefined,
    sealUs: undefined,
    markedFromUs: Number.NaN,
    stretch: 0,
  }
}

function empty(tally: OpenTally): void {
  tally.received = 0
  tally.accepted = 0
  tally.filtered = 0
  tally.lastReceivedAtUs = 0
  tally.day = 0
  tally.receivedOnDay = 0
  if (tally.quarantine.length > 0) tally.quarantine = []
  tally.alerts = undefined
  tally.position = undefined
  tally.version = -1
  tally.watch = undefined
  tally.rules = undefined
  tally.sealUs = undefined
  tally.markedFromUs = Number.NaN
}
