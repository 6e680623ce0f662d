import { monotonicMs } from '../../core/clock.ts'
import { markOf } from '../../ingest/pipeline/entry-bytes.ts'
import { EntryReader } from '../../ingest/pipeline/entry-reader.ts'

/** How long a stream is looked for after somebody has asked for it: who follows it asks every few seconds. */
const restMs = 15_000

/** How often it is looked for those that nobody asks for any more. */
const lookMs = 5_000

/** Entries of streams in one batch: the key of each stream with, in turn, place in the batch and first byte. */
export type Places = ReadonlyMap<string, readonly number[]>

/**
 * The streams that somebody follows now. Of the many entries that the journal gets few are theirs, so each entry
 * costs a look at four bytes of its key, and only what may be theirs is looked at whole.
 */
export class FollowedStreams {
  readonly #askedMs = new Map<string, number>()
  #keys: ReadonlySet<string> = new Set()
  #lookedMs = monotonicMs()

  /** Their keys; another set once there are others. */
  get keys(): ReadonlySet<string> {
    return this.#keys
  }

  /** Notes that somebody asks for a stream. */
  note(streamKey: string): void {
    const nowMs = monotonicMs()
    this.#askedMs.set(streamKey, nowMs)
    if (nowMs - this.#lookedMs > lookMs) this.#forget(nowMs)
    if (!this.#keys.has(streamKey)) this.#keys = new Set([...this.#keys, streamKey])
  }

  #forget(nowMs: number): void {
    this.#lookedMs = nowMs
    for (const [key, askedMs] of this.#askedMs) {
      if (nowMs - askedMs > restMs) this.#askedMs.delete(key)
    }
    if (this.#askedMs.size < this.#keys.size) this.#keys = new Set(this.#askedMs.keys())
  }
}

/** Finds entries of some streams in a batch. @throws EntryFormatError */
export function placesOf(bytes: Uint8Array, keys: ReadonlySet<string>): Places {
  const places = new Map<string, number[]>()
  if (keys.size === 0) return places
  const marks = new Set<number>()
  for (const key of keys) marks.add(markOf(key))
  const entry = new EntryReader(bytes)
  for (let place = 0; entry.next(); place++) {
    if (!marks.has(entry.streamMark)) continue
    const { streamKey, start } = entry
    if (!keys.has(streamKey)) continue
    const known = places.get(streamKey)
    if (known) known.push(place, start)
    else places.set(streamKey, [place, start])
  }
  return places
}
