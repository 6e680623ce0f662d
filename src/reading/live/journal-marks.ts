import type { Offset } from '../../storage/journal/journal.ts'

/** Entries that are noted together, and forgotten together. */
const segmentEntries = 65_536

interface Segment {
  readonly first: Offset
  readonly marks: Uint32Array
  count: number
  bytes: number
}

/** No entry about a reading has this mark. */
export const noMark = 0

/**
 * A number of 32 bits for a stream and a time. Entries of the same have the same number, and hardly any others do, so
 * few entries have to be read to find those of a reading.
 *
 * @param streamMark that of entries of the stream
 */
export function markAt(streamMark: number, timestampUs: number): number {
  if (Number.isNaN(timestampUs)) return noMark
  const high = Math.floor(timestampUs / 2 ** 32)
  let mixed = Math.imul(streamMark ^ high, 0x9e3779b1) ^ (timestampUs >>> 0)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b)
  mixed ^= mixed >>> 13
  return mixed >>> 0 || 1
}

/** Marks of the newest entries of the journal: four bytes for each. */
export class JournalMarks {
  readonly #bytesMax: number
  #segments: Segment[] = []
  #bytes = 0
  #next: Offset = 0

  /** @param bytesMax bytes of entries whose marks are kept */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** The oldest entry that is noted. */
  get first(): Offset {
    return this.#segments[0]?.first ?? this.#next
  }

  /** The entry that is noted next. */
  get next(): Offset {
    return this.#next
  }

  /** Forgets all, and goes on at an offset. */
  beginAt(offset: Offset): void {
    this.#segments = []
    this.#bytes = 0
    this.#next = offset
  }

  /** @param bytes those of the entry */
  add(mark: number, bytes: number): void {
    let segment = this.#segments.at(-1)
    if (segment === undefined || segment.count === segmentEntries) {
      const marks = new Uint32Array(segmentEntries)
      segment = { first: this.#next, marks, count: 0, bytes: 0 }
      this.#segments.push(segment)
    }
    segment.marks[segment.count++] = mark
    segment.bytes += bytes
    this.#bytes += bytes
    this.#next++
    while (this.#segments.length > 1 && this.#bytes > this.#bytesMax) {
      this.#bytes -= this.#segments.shift()?.bytes ?? 0
    }
  }

  /** Offsets of entries with a mark, in their order. */
  *find(mark: number): Generator<Offset> {
    for (const { first, marks, count } of this.#segments) {
      for (
        let at = marks.indexOf(mark);
        at !== -1 && at < count;
        at = marks.indexOf(mark, at + 1)
      ) {
        yield first + at
      }
    }
  }
}
