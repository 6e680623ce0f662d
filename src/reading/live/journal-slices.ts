import { kindQuarantined } from '../../ingest/pipeline/entry.ts'
import { EntryReader } from '../../ingest/pipeline/entry-reader.ts'
import type { JournalBatch, JournalReader, Offset } from '../../storage/journal/journal.ts'
import type { ReadingsCursor } from '../../storage/time-series/readings-query.ts'
import { FollowedStreams, type Places, placesOf } from './followed-streams.ts'
import { quarantinedJson, readingJson } from './live-entry.ts'
import { isBehind } from './position.ts'

/** Batches that were read last stay at hand, with an index, for all who follow: so much of them. */
const atHandBytesMax = 8 * 1024 * 1024

/** Events that one slice hands out at most: they are held in memory for each who reads slowly. */
const sliceEventsMax = 500
const sliceLengthMax = 32 * 1024

/** Entries that one slice looks at, so that nobody has to wait long for another's. */
const entriesMax = 20_000

/** A question for what the journal holds of one stream from an offset on. */
export interface SliceRequest {
  /** The 16 bytes of the stream's id, as entries have it. */
  readonly streamKey: string
  readonly from: Offset
  /** Exclusive; undefined: up to the end. */
  readonly until: Offset | undefined
  /** Only readings that are not behind this place. */
  readonly upTo: ReadingsCursor | undefined
  readonly withQuarantined: boolean
}

/** A question of which the network thread may know where its entries are (see `StreamNews`). */
export interface NotedSliceRequest extends SliceRequest {
  readonly until: Offset
  /** The first offsets of the batches that hold all that there is; undefined: any may hold some. */
  readonly batches: readonly Offset[] | undefined
}

/** One entry of the stream, ready to be sent. */
export interface SliceEvent {
  readonly offset: Offset
  readonly type: 'reading' | 'quarantined'
  readonly json: string
}

export interface Slice {
  readonly events: readonly SliceEvent[]
  /** Where the next slice begins. */
  readonly next: Offset
}

interface LookedAtBatch extends JournalBatch {
  /** The streams that it was looked through for. */
  readonly soughtKeys: ReadonlySet<string>
  readonly places: Places
}

/**
 * The journal for those who follow single streams. Batches that are known to hold entries of followed streams are read
 * once for all, in one pass that finds the entries of all these streams; who is further behind, or follows
 * a stream since a moment ago, looks through all that there is.
 */
export class JournalSlices {
  readonly #reader: JournalReader
  readonly #followed = new FollowedStreams()
  /** In the order in which they were read. */
  readonly #atHand = new Map<Offset, LookedAtBatch>()
  #bytes = 0

  constructor(reader: JournalReader) {
    this.#reader = reader
  }

  /** Whether the journal still holds everything from this offset on. */
  covers(offset: Offset): boolean {
    return offset === this.#reader.nextOffset() || startsAt(this.#reader.read(offset, 1)[0], offset)
  }

  /** What there is of one stream; undefined when the journal does not hold it any more. */
  slice(request: NotedSliceRequest): Slice | undefined {
    this.#followed.note(request.streamKey)
    const { from, until, batches: offsets } = request
    if (offsets !== undefined) {
      const batches = this.#noted(offsets)
      return batches && collect(batches, request, until)
    }
    const batches = this.#reader.read(from, Math.min(entriesMax, until - from))
    if (!startsAt(batches[0], from)) return undefined
    const last = batches.at(-1) as JournalBatch
    return collect(batches, request, Math.min(until, last.firstOffset + last.count))
  }

  #noted(offsets: readonly Offset[]): LookedAtBatch[] | undefined {
    const batches: LookedAtBatch[] = []
    for (const offset of offsets) {
      const batch = this.#atHand.get(offset) ?? this.#read(offset)
      if (batch === undefined) return undefined
      batches.push(batch)
    }
    return batches
  }

  /** Undefined for a batch that the journal does not hold any more. */
  #read(firstOffset: Offset): LookedAtBatch | undefined {
    const [batch] = this.#reader.read(firstOffset, 1)
    if (batch?.firstOffset !== firstOffset) return undefined
    const soughtKeys = this.#followed.keys
    const lookedAt = { ...batch, soughtKeys, places: placesOf(batch.bytes, soughtKeys) }
    this.#atHand.set(firstOffset, lookedAt)
    this.#bytes += batch.bytes.byteLength
    this.#shrink()
    return lookedAt
  }

  #shrink(): void {
    for (const [offset, { bytes }] of this.#atHand) {
      if (this.#bytes <= atHandBytesMax || this.#atHand.size === 1) return
      this.#atHand.delete(offset)
      this.#bytes -= bytes.byteLength
    }
  }
}

function startsAt(batch: JournalBatch | undefined, offset: Offset): boolean {
  return batch !== undefined && batch.firstOffset <= offset
}

/** The stream's entries in batches, in their order, up to what one slice may hold. */
function collect(
  batches: readonly (JournalBatch | LookedAtBatch)[],
  request: SliceRequest,
  until: Offset,
): Slice {
  const events: SliceEvent[] = []
  let length = 0
  for (const batch of batches) {
    if (batch.firstOffset + batch.count <= request.from) continue
    if (batch.firstOffset >= until) break
    for (const { offset, entry } of entriesOf(batch, request.streamKey)) {
      if (offset < request.from) continue
      if (offset >= until) break
      const event = eventOf(entry, offset, request)
      if (event === undefined) continue
      events.push(event)
      length += event.json.length
      if (events.length >= sliceEventsMax || length >= sliceLengthMax) {
        return { events, next: offset + 1 }
      }
    }
  }
  return { events, next: until }
}

interface Found {
  readonly offset: Offset
  readonly entry: EntryReader
}

function* entriesOf(batch: JournalBatch | LookedAtBatch, streamKey: string): Generator<Found> {
  const { firstOffset, bytes } = batch
  const isLookedAt = 'places' in batch && batch.soughtKeys.has(streamKey)
  const found = isLookedAt ? batch.places : placesOf(bytes, new Set([streamKey]))
  const places = found.get(streamKey) ?? []
  for (let at = 0; at < places.length; at += 2) {
    const entry = new EntryReader(bytes.subarray(places[at + 1]))
    entry.next()
    yield { offset: firstOffset + (places[at] ?? 0), entry }
  }
}

function eventOf(
  entry: EntryReader,
  offset: Offset,
  { upTo, withQuarantined }: SliceRequest,
): SliceEvent | undefined {
  if (!entry.accepted) {
    return withQuarantined && entry.kind === kindQuarantined
      ? { offset, type: 'quarantined', json: quarantinedJson(entry) }
      : undefined
  }
  const { timestampUs, digest } = entry
  if (upTo !== undefined && isBehind({ timestampUs, digest }, upTo)) return undefined
  return { offset, type: 'reading', json: readingJson(entry) }
}
