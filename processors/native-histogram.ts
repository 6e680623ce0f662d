import { problem } from './decode-binary.ts'
import { staleBits, tagOf, type WireCursor, wireType } from './remote-write-wire.ts'

/** A native histogram of Prometheus as members of a reading (prompb/types.proto, io/prometheus/write/v2/types.proto). */
export interface NativeHistogram {
  readonly members: HistogramMembers
  /** Milliseconds since the epoch. */
  readonly timeMs: number
  readonly isStale: boolean
  readonly buckets: number
}

interface HistogramMembers {
  count: number
  sum: number
  /** Each power of two has 2^schema buckets; -53: bounds of its own, in `customValues`. */
  schema: number
  zeroThreshold: number
  zeroCount: number
  /** Places of buckets, and how many observations are in each. */
  negativeIndexes: readonly number[]
  negativeCounts: readonly number[]
  positiveIndexes: readonly number[]
  positiveCounts: readonly number[]
  customValues?: readonly number[]
}

/** Names of members that a label cannot have. */
export const histogramNames = [
  'count',
  'sum',
  'schema',
  'zeroThreshold',
  'zeroCount',
  'negativeIndexes',
  'negativeCounts',
  'positiveIndexes',
  'positiveCounts',
  'customValues',
]

/** Buckets of one histogram, and spans, and bounds: Prometheus has 160 unless it is configured. */
const bucketsMax = 10_000

interface Span {
  readonly offset: number
  readonly length: number
}

class Buckets {
  readonly spans: Span[] = []
  readonly deltas: number[] = []
  readonly counts: number[] = []

  /** Offsets count from the end of the span before, and deltas from the count before. @throws UnreadableItem */
  read(): { readonly indexes: readonly number[]; readonly counts: readonly number[] } {
    const { spans, deltas, counts: given } = this
    const counts = deltas.length > 0 ? sumsOf(deltas) : given
    if (deltas.length > 0 && given.length > 0) throw problem('a histogram has two kinds of counts')
    const indexes: number[] = []
    let index = 0
    for (const { offset, length } of spans) {
      index += offset
      if (indexes.length + length > counts.length) throw unequal()
      for (let count = 0; count < length; count++) indexes.push(index++)
    }
    if (indexes.length !== counts.length) throw unequal()
    return { indexes, counts }
  }
}

function unequal() {
  return problem('a histogram has not as many counts as buckets')
}

function sumsOf(deltas: readonly number[]): number[] {
  let sum = 0
  return deltas.map((delta) => (sum += delta))
}

/** Reads a histogram up to `end`. @throws UnreadableItem */
export function nativeHistogram(wire: WireCursor, end: number): NativeHistogram {
  const negative = new Buckets()
  const positive = new Buckets()
  const customValues: number[] = []
  const found = { count: 0, sum: 0, schema: 0, zeroThreshold: 0, zeroCount: 0 }
  let timeMs = 0
  let isStale = false
  while (wire.at < end) {
    const tag = wire.tag(end)
    switch (tag) {
      case tagOf(1, wireType.varint):
        found.count = wire.unsigned(end)
        break
      case tagOf(2, wireType.bits64):
        found.count = wire.double(end)
        break
      case tagOf(3, wireType.bits64):
        isStale = wire.isDouble(...staleBits)
        found.sum = wire.double(end)
        break
      case tagOf(4, wireType.varint):
        found.schema = wire.zigzag(end)
        break
      case tagOf(5, wireType.bits64):
        found.zeroThreshold = wire.double(end)
        break
      case tagOf(6, wireType.varint):
        found.zeroCount = wire.unsigned(end)
        break
      case tagOf(7, wireType.bits64):
        found.zeroCount = wire.double(end)
        break
      case tagOf(15, wireType.varint):
        timeMs = wire.signed(end)
        break
      default:
        if (!readList(wire, { tag, end }, { negative, positive, customValues })) wire.skip(tag, end)
    }
  }
  const below = negative.read()
  const above = positive.read()
  const members = {
    ...found,
    negativeIndexes: below.indexes,
    negativeCounts: below.counts,
    positiveIndexes: above.indexes,
    positiveCounts: above.counts,
    ...(customValues.length > 0 && { customValues }),
  }
  const buckets = below.counts.length + above.counts.length + customValues.length
  return { members, timeMs, isStale, buckets }
}

interface Lists {
  readonly negative: Buckets
  readonly positive: Buckets
  readonly customValues: number[]
}

/** Whether it is one of the lists of a histogram. @throws UnreadableItem */
function readList(
  wire: WireCursor,
  { tag, end }: { readonly tag: number; readonly end: number },
  { negative, positive, customValues }: Lists,
): boolean {
  const field = tag >>> 3
  switch (field) {
    case 8:
    case 11:
      if ((tag & 7) !== wireType.bytes) return false
      push((field === 8 ? negative : positive).spans, spanIn(wire, wire.endOfValue(end)))
      return true
    case 9:
    case 12:
      return readNumbers(wire, { tag, end, own: wireType.varint }, (last) =>
        push((field === 9 ? negative : positive).deltas, wire.zigzag(last)),
      )
    case 10:
    case 13:
      return readNumbers(wire, { tag, end, own: wireType.bits64 }, (last) =>
        push((field === 10 ? negative : positive).counts, wire.double(last)),
      )
    case 16:
      return readNumbers(wire, { tag, end, own: wireType.bits64 }, (last) =>
        push(customValues, wire.double(last)),
      )
    default:
      return false
  }
}

/** Numbers come packed, or one by one. */
function readNumbers(
  wire: WireCursor,
  { tag, end, own }: { readonly tag: number; readonly end: number; readonly own: number },
  read: (end: number) => void,
): boolean {
  const written = tag & 7
  if (written === own) read(end)
  else if (written === wireType.bytes) {
    const last = wire.endOfValue(end)
    while (wire.at < last) read(last)
  } else return false
  return true
}

function spanIn(wire: WireCursor, end: number): Span {
  let offset = 0
  let length = 0
  while (wire.at < end) {
    const tag = wire.tag(end)
    if (tag === tagOf(1, wireType.varint)) offset = wire.zigzag(end)
    else if (tag === tagOf(2, wireType.varint)) length = wire.unsigned(end)
    else wire.skip(tag, end)
  }
  return { offset, length }
}

function push<Element>(list: Element[], element: Element): void {
  if (list.length === bucketsMax) throw problem(`a histogram has more than ${bucketsMax} buckets`)
  list.push(element)
}
