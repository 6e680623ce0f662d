import { EntryBytes, markOf } from '../../ingest/pipeline/entry-bytes.ts'

/** Streams that are looked for, in forms in which an entry of another one is passed over quickly. */
export interface SoughtStreams {
  readonly keys: ReadonlySet<string>
  /** How many of them have a mark. */
  readonly marks: ReadonlyMap<number, number>
  /** One bit for each number that a mark may end with: it is set where the mark of one of them does. */
  readonly bits: Uint8Array
}

/** As many of the last bits of a mark: their table is small enough to stay at hand beside the readings. */
const bitsOfMark = 16
const endMask = 2 ** bitsOfMark - 1

export function soughtStreams(streamKeys: Iterable<string>): SoughtStreams {
  const keys = new Set(streamKeys)
  const marks = new Map<number, number>()
  const bits = new Uint8Array(2 ** bitsOfMark / 8)
  for (const mark of [...keys].map(markOf)) {
    marks.set(mark, (marks.get(mark) ?? 0) + 1)
    const place = (mark & endMask) >> 3
    bits[place] = (bits[place] ?? 0) | (1 << (mark & 7))
  }
  return { keys, marks, bits }
}

/**
 * The sought streams that a batch holds entries of. It is asked for each batch before the journal has it, so an
 * entry costs some nanoseconds, also one of a stream that was found before.
 */
export function keysIn(bytes: Uint8Array, { keys, marks, bits }: SoughtStreams): Set<string> {
  const found = new Set<string>()
  /** Marks, all of whose streams are found. */
  const done = new Set<number>()
  const left = new Map<number, number>()
  const entries = new EntryBytes(bytes)
  for (let at = 0; at < entries.length; at = entries.end(at)) {
    const mark = entries.streamMark(at)
    if ((((bits[(mark & endMask) >> 3] ?? 0) >> (mark & 7)) & 1) === 0 || done.has(mark)) continue
    const streams = marks.get(mark)
    if (streams === undefined) continue
    const key = entries.streamKey(at)
    if (!keys.has(key) || found.has(key)) continue
    found.add(key)
    const others = (left.get(mark) ?? streams) - 1
    if (others === 0) done.add(mark)
    else left.set(mark, others)
  }
  return found
}
