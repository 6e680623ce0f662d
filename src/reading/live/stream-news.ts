import { monotonicMs } from '../../core/clock.ts'
import type { Offset } from '../../storage/journal/journal.ts'
import { keysIn, type SoughtStreams, soughtStreams } from './sought-streams.ts'

const defaults = {
  /** How long a stream is noted after the last question about it: a follower asks every few seconds. */
  restMs: 15_000,
  /** How often streams are dropped that no one asks for any more. */
  dropMs: 5_000,
  /** A question is answered after this time, also when nothing has come. */
  waitMs: 5_000,
  /** Batches that are noted of one stream: a follower that is further behind reads the journal itself. */
  notedMax: 1_024,
}

/** Time between two moments at which those who wait are notified: so many readings are one message. */
const pauseMs = 15

/** Such a time where much comes: each notice costs the readings some of their time. */
const busyPauseMs = 50

/** Bytes of noted batches between two notices that are much: a megabyte a second. */
const busyBytes = 16 * 1024

/** What one answer reads at most, so that no one has to wait long for another follower's. */
const entriesMax = 20_000
const bytesMax = 8 * 1024 * 1024

/** A batch of the journal. */
interface NotedBatch {
  readonly firstOffset: Offset
  /** Offset after its last entry. */
  readonly end: Offset
  readonly byteLength: number
}

/** What a batch holds of the streams that are followed, found before the journal has it. */
export interface LookedAt {
  /** The streams that it was looked through for. */
  readonly sought: ReadonlySet<string>
  readonly found: ReadonlySet<string>
}

/** Where there may be entries of a stream, from an offset on and below `until`. */
export interface News {
  /** The first offsets of batches. Undefined: any may hold some. */
  readonly batches: readonly Offset[] | undefined
  readonly until: Offset
}

interface FollowedStream {
  /** All batches from here on that hold entries of it are noted. */
  since: Offset
  readonly batches: NotedBatch[]
  readonly waiting: Set<() => void>
  askedMs: number
}

/**
 * Knows which batches of the journal hold entries of the streams that someone follows. They are noted where batches are
 * written, so that the many that hold none need not be read. While no one follows, batches are not looked at.
 */
export class StreamNews {
  readonly #streams = new Map<string, FollowedStream>()
  readonly #limits: typeof defaults
  #sought: SoughtStreams = nothingSought
  #end: Offset
  /** Up to where those who wait are notified of what comes. */
  #shownEnd: Offset
  /** Streams of which there is something new since the last notice, and bytes that were noted. */
  readonly #fresh = new Set<FollowedStream>()
  #bytes = 0
  #notifiedMs = 0
  #pauseMs = pauseMs
  #noticeTimer: NodeJS.Timeout | undefined
  #dropTimer: NodeJS.Timeout | undefined

  /** @param end offset after the newest entry of the journal, to which only `note` adds */
  constructor(end: Offset, limits: Partial<typeof defaults> = {}) {
    this.#limits = { ...defaults, ...limits }
    this.#end = end
    this.#shownEnd = end
  }

  /** Offset after the newest entry whose sender may know that it is on disk. */
  get end(): Offset {
    return this.#end
  }

  /** Looks through a batch that the journal is about to take. */
  look(bytes: Uint8Array): LookedAt {
    const { keys } = this.#sought
    return keys.size === 0 ? nothingFound : { sought: keys, found: keysIn(bytes, this.#sought) }
  }

  /** Notes a batch that the journal has taken. */
  note(batch: NotedBatch, { sought, found }: LookedAt): void {
    const { firstOffset, end } = batch
    // One that the journal has refused may be in it all the same, and no one knows of what it is.
    const isGap = firstOffset !== this.#end
    this.#end = end
    if (isGap) this.#restart(firstOffset, () => true)
    if (sought !== this.#sought.keys) this.#restart(end, (key) => !sought.has(key))
    for (const key of found) {
      const stream = this.#streams.get(key)
      if (stream === undefined) continue
      stream.batches.push(batch)
      this.#fresh.add(stream)
      if (stream.batches.length > this.#limits.notedMax) dropOldest(stream)
    }
    if (found.size > 0) this.#noticeSoon(batch.byteLength)
    if (this.#noticeTimer === undefined) this.#shownEnd = end
  }

  /** Where there may be entries of a stream from an offset on. They are noted from now on, if they were not. */
  of(streamKey: string, from: Offset, until: Offset | undefined): News {
    const { since, batches } = this.#follow(streamKey)
    if (from < since) return { batches: undefined, until: Math.min(until ?? since, since) }
    if (until !== undefined && until > this.#end) return { batches: undefined, until }
    const end = until ?? Math.max(from, this.#shownEnd)
    // Who follows is near the end: few batches are looked at.
    const first = batches.findLastIndex((batch) => batch.end <= from) + 1
    const wanted = batches.slice(first).filter(({ firstOffset }) => firstOffset < end)
    const count = readAtOnce(wanted)
    return {
      batches: wanted.slice(0, count).map(({ firstOffset }) => firstOffset),
      until: wanted.length === count ? end : (wanted[count - 1]?.end ?? end),
    }
  }

  /** Resolves when there is something new of a stream, or after a while. */
  async arrival(streamKey: string): Promise<void> {
    const stream = this.#follow(streamKey)
    const { promise, resolve } = Promise.withResolvers<void>()
    stream.waiting.add(resolve)
    const timer = setTimeout(resolve, this.#limits.waitMs).unref()
    await promise
    clearTimeout(timer)
    stream.waiting.delete(resolve)
    stream.askedMs = monotonicMs()
  }

  #follow(streamKey: string): FollowedStream {
    const askedMs = monotonicMs()
    const known = this.#streams.get(streamKey)
    if (known !== undefined) {
      known.askedMs = askedMs
      return known
    }
    const stream = { since: this.#end, batches: [], waiting: new Set<() => void>(), askedMs }
    this.#streams.set(streamKey, stream)
    this.#sought = soughtStreams(this.#streams.keys())
    this.#dropTimer ??= setInterval(() => this.#drop(), this.#limits.dropMs).unref()
    return stream
  }

  #drop(): void {
    const nowMs = monotonicMs()
    const before = this.#streams.size
    for (const [key, { askedMs }] of this.#streams) {
      if (nowMs - askedMs > this.#limits.restMs) this.#streams.delete(key)
    }
    if (this.#streams.size === before) return
    this.#sought = this.#streams.size > 0 ? soughtStreams(this.#streams.keys()) : nothingSought
    if (this.#streams.size > 0) return
    clearInterval(this.#dropTimer)
    this.#dropTimer = undefined
  }

  /** What came before an offset is not noted: those who follow look for it in the journal. */
  #restart(since: Offset, isConcerned: (key: string) => boolean): void {
    for (const [key, stream] of this.#streams) {
      if (!isConcerned(key) || stream.since >= since) continue
      stream.since = since
      stream.batches.length = 0
      this.#fresh.add(stream)
    }
    this.#noticeSoon(0)
  }

  #noticeSoon(bytes: number): void {
    this.#bytes += bytes
    if (this.#noticeTimer !== undefined) return
    const restsMs = this.#notifiedMs + this.#pauseMs - monotonicMs()
    this.#noticeTimer = setTimeout(() => this.#notify(), Math.max(0, restsMs))
  }

  #notify(): void {
    this.#noticeTimer = undefined
    this.#shownEnd = this.#end
    this.#notifiedMs = monotonicMs()
    this.#pauseMs = this.#bytes > busyBytes ? busyPauseMs : pauseMs
    this.#bytes = 0
    for (const { waiting } of this.#fresh) for (const resolve of waiting) resolve()
    this.#fresh.clear()
  }
}

const nothingSought = soughtStreams([])
const nothingFound: LookedAt = { sought: nothingSought.keys, found: new Set() }

/** How many of some batches one answer reads: one at least. */
function readAtOnce(batches: readonly NotedBatch[]): number {
  let count = 0
  let entries = 0
  let bytes = 0
  for (const { firstOffset, end, byteLength } of batches) {
    entries += end - firstOffset
    bytes += byteLength
    if (count > 0 && (entries > entriesMax || bytes > bytesMax)) break
    count++
  }
  return count
}

function dropOldest(stream: FollowedStream): void {
  const { batches } = stream
  batches.splice(0, batches.length / 2)
  stream.since = batches[0]?.firstOffset ?? stream.since
}
