import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire'
import { compressSync } from 'snappy'

/** Requests of remote write as Prometheus sends them, by prompb/remote.proto and io/prometheus/write/v2/types.proto. */

export interface SentSample {
  readonly value: number
  /** Milliseconds since the epoch. */
  readonly timeMs: number
}

export interface SentHistogram {
  readonly timeMs: number
  readonly count: number
  readonly sum: number
  readonly schema: number
  readonly zeroThreshold?: number
  readonly zeroCount?: number
  readonly positiveSpans?: readonly (readonly [offset: number, length: number])[]
  readonly positiveDeltas?: readonly number[]
  readonly negativeSpans?: readonly (readonly [offset: number, length: number])[]
  readonly negativeDeltas?: readonly number[]
  /** Counts of a histogram of floats, in place of deltas. */
  readonly positiveCounts?: readonly number[]
  readonly customValues?: readonly number[]
}

export interface SentSeries {
  readonly labels: readonly (readonly [name: string, value: string])[]
  readonly samples?: readonly SentSample[]
  readonly histograms?: readonly SentHistogram[]
  readonly exemplars?: number
}

/** A request of remote write 1.0, with metadata as Prometheus sends them in between. */
export function writeRequest(all: readonly SentSeries[]): Uint8Array {
  const writer = new BinaryWriter()
  for (const { labels, samples = [], histograms = [], exemplars = 0 } of all) {
    writer.tag(1, WireType.LengthDelimited).fork()
    for (const [name, value] of labels) {
      writer.tag(1, WireType.LengthDelimited).fork()
      writer.tag(1, WireType.LengthDelimited).string(name)
      writer.tag(2, WireType.LengthDelimited).string(value).join()
    }
    for (const sample of samples) writeSample(writer, sample)
    for (let count = 0; count < exemplars; count++) {
      writer.tag(3, WireType.LengthDelimited).fork()
      writer.tag(2, WireType.Bit64).double(1).join()
    }
    for (const histogram of histograms) writeHistogram(writer, 4, histogram)
    writer.join()
  }
  writer.tag(3, WireType.LengthDelimited).fork()
  writer.tag(2, WireType.LengthDelimited).string('up').join()
  return writer.finish()
}

/** A request of remote write 2.0. */
export function writeRequest2(all: readonly SentSeries[]): Uint8Array {
  const symbols = new Map([['', 0]])
  const indexOf = (text: string) => {
    const index = symbols.get(text) ?? symbols.size
    symbols.set(text, index)
    return index
  }
  const series = new BinaryWriter()
  for (const { labels, samples = [], histograms = [], exemplars = 0 } of all) {
    series.tag(5, WireType.LengthDelimited).fork()
    series.tag(1, WireType.LengthDelimited).fork()
    for (const [name, value] of labels) series.uint32(indexOf(name)).uint32(indexOf(value))
    series.join()
    for (const sample of samples) writeSample(series, sample)
    for (const histogram of histograms) writeHistogram(series, 3, histogram)
    for (let count = 0; count < exemplars; count++) {
      series.tag(4, WireType.LengthDelimited).fork()
      series.tag(2, WireType.Bit64).double(1).join()
    }
    series.tag(5, WireType.LengthDelimited).fork()
    series.tag(1, WireType.Varint).uint32(1).join()
    series.join()
  }
  const writer = new BinaryWriter()
  for (const symbol of symbols.keys()) writer.tag(4, WireType.LengthDelimited).string(symbol)
  return writer.raw(series.finish()).finish()
}

export function snapped(content: Uint8Array): Uint8Array {
  return compressSync(content)
}

/** The bits that say that a series has ended, which no number of JavaScript keeps. */
export const staleMarker = Buffer.from('020000000000f07f', 'hex')

function writeSample(writer: BinaryWriter, { value, timeMs }: SentSample): void {
  writer.tag(2, WireType.LengthDelimited).fork()
  writer.tag(1, WireType.Bit64).double(value)
  writer.tag(2, WireType.Varint).int64(timeMs).join()
}

function writeHistogram(writer: BinaryWriter, field: number, histogram: SentHistogram): void {
  const { count, sum, schema, timeMs, zeroThreshold = 0, zeroCount = 0 } = histogram
  const { positiveCounts, customValues } = histogram
  writer.tag(field, WireType.LengthDelimited).fork()
  if (positiveCounts === undefined) writer.tag(1, WireType.Varint).uint64(count)
  else writer.tag(2, WireType.Bit64).double(count)
  writer.tag(3, WireType.Bit64).double(sum)
  writer.tag(4, WireType.Varint).sint32(schema)
  writer.tag(5, WireType.Bit64).double(zeroThreshold)
  if (positiveCounts === undefined) writer.tag(6, WireType.Varint).uint64(zeroCount)
  else writer.tag(7, WireType.Bit64).double(zeroCount)
  writeBuckets(writer, 8, histogram.negativeSpans, histogram.negativeDeltas)
  writeBuckets(writer, 11, histogram.positiveSpans, histogram.positiveDeltas)
  writeDoubles(writer, 13, positiveCounts)
  writer.tag(15, WireType.Varint).int64(timeMs)
  writeDoubles(writer, 16, customValues)
  writer.join()
}

function writeBuckets(
  writer: BinaryWriter,
  field: number,
  spans: SentHistogram['positiveSpans'] = [],
  deltas: readonly number[] = [],
): void {
  for (const [offset, length] of spans) {
    writer.tag(field, WireType.LengthDelimited).fork()
    writer.tag(1, WireType.Varint).sint32(offset)
    writer.tag(2, WireType.Varint).uint32(length).join()
  }
  writer.tag(field + 1, WireType.LengthDelimited).fork()
  for (const delta of deltas) writer.sint64(delta)
  writer.join()
}

function writeDoubles(writer: BinaryWriter, field: number, values: readonly number[] = []): void {
  writer.tag(field, WireType.LengthDelimited).fork()
  for (const value of values) writer.double(value)
  writer.join()
}
