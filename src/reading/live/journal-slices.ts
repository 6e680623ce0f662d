import { kindQuarantined } from '../../ingest/pipeline/entry.ts'
import { EntryReader } from '../../ingest/pipeline/entry-reader.ts'
import type { JournalBatch, JournalReader, Offset } from '../../storage/journal/journal.ts'
import type { ReadingsCursor } from '../../storage/time-series/readings-query.ts'
import { FollowedStreams, type Places, placesOf } from './followed-streams.ts'
import { quarantinedJson, readingJson } from './live-entry.ts'
import { isBehind } from './position.ts'

/** The newest batches stay at hand, with an index, for all who follow: so much of them. */
const windowBytesMax = 8 * 1024 * 1024

/** Events that one slice hands out at most: they are held in memory for each who reads slowly. */
const sliceEventsMax = 500
const sliceLengthMax = 32 * 1024

/** Entries that one slice looks at, so that nobody has to wait long for another's. */
const entriesMax = 20_000

/**
 * Entries that the window may be behind before it begins anew at the end: nobody has followed for a
 * while, and nobody wants to see what came meanwhile.
 */
const behindMax = 200_000

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
 * The journal for those who follow single streams. All who are near its end share one pass over each
 * batch, which finds the entries of all streams that are followed; who is further behind, or follows another one,
 * looks for himself.
 */
export class JournalSlices {
  readonly #reader: JournalReader
  readonly #followed = new FollowedStreams()
  readonly #batches: LookedAtBatch[] = []
  #bytes = 0
  /** Offset after the newest batch at hand. */
  #end: Offset
  /** Whether the last look ended before the end of the journal, as far as it is known: another one is due. */
  isBehind = false
  /** Bytes that the last look has brought. */
  advancedBytes = 0

  constructor(reader: JournalReader) {
    this.#reader = reader
    this.#end = reader.nextOffset()
  }

  /** Offset after the newest entry that was looked at. */
  get end(): Offset {
    return this.#end
  }

  /** Takes in what the journal has got; the keys of the followed streams that it is about, or `all`. */
  advance(): ReadonlySet<string> | 'all' {
    const batches = this.#reader.read(this.#end, entriesMax)
    this.advancedBytes = batches.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
    this.isBehind = isFull(batches, this.advancedBytes)
    const [first] = batches
    if (first === undefined) return noKeys
    if (first.firstOffset !== this.#end) return this.#restart()
    if (this.isBehind && this.#reader.nextOffset() - this.#end > behindMax) return this.#restart()
    const keys = new Set<string>()
    const soughtKeys = this.#followed.keys
    for (const batch of batches) {
      const places = placesOf(batch.bytes, soughtKeys)
      this.#batches.push({ ...batch, soughtKeys, places })
      this.#bytes += batch.bytes.byteLength
      this.#end = batch.firstOffset + batch.count
      for (const key of places.keys()) keys.add(key)
    }
    this.#shrink()
    return keys
  }

  /** Whether the journal still holds everything from this offset on, as far as it was looked at. */
  covers(offset: Offset): boolean {
    if (offset >= this.#end) return offset === this.#end
    if (offset >= this.#begin) return true
    return startsAt(this.#reader.read(offset, 1)[0], offset)
  }

  /** What there is of one stream; undefined when the journal does not hold it any more. */
  slice(request: SliceRequest): Slice | undefined {
    const { from, streamKey } = request
    this.#followed.note(streamKey)
    if (from > this.#end) return undefined
    if (from >= this.#begin) return collect(this.#batches, request, this.#end)
    const batches = this.#reader.read(from, entriesMax)
    if (!startsAt(batches[0], from)) return undefined
    const last = batches.at(-1) as JournalBatch
    return collect(batches, request, last.firstOffset + last.count)
  }

  #restart(): 'all' {
    this.#batches.length = 0
    this.#bytes = 0
    this.#end = this.#reader.nextOffset()
    this.isBehind = false
    return 'all'
  }

  get #begin(): Offset {
    return this.#batches[0]?.firstOffset ?? this.#end
  }

  #shrink(): void {
    let dropped = 0
    while (this.#bytes > windowBytesMax && dropped < this.#batches.length - 1) {
      this.#bytes -= this.#batches[dropped]?.bytes.byteLength ?? 0
      dropped++
    }
    this.#batches.splice(0, dropped)
  }
}

const noKeys: ReadonlySet<string> = new Set()

/** Whether it may be less than there is: a look that does not reach its limits has found all. */
function isFull(batches: readonly JournalBatch[], bytes: number): boolean {
  const entries = batches.reduce((sum, { count }) => sum + count, 0)
  return entries >= entriesMax || bytes >= windowBytesMax
}

function startsAt(batch: JournalBatch | undefined, offset: Offset): boolean {
  return batch !== undefined && batch.firstOffset <= offset
}

/** The stream's entries in batches that follow each other, up to what one slice may hold. */
function collect(
  batches: readonly (JournalBatch | LookedAtBatch)[],
  request: SliceRequest,
  end: Offset,
): Slice {
  const until = Math.min(request.until ?? end, end)
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
