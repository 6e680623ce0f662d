import { isWritableInstant } from '../src/core/time.ts'
import { readingsPerMessageMax, tooManyReadings } from './decode-batch.ts'
import { problem, UnreadableItem } from './decode-binary.ts'
import { histogramNames, nativeHistogram } from './native-histogram.ts'
import {
  type LabelMembers,
  type Labels,
  labelMembers,
  labelsMax,
  tooManyLabels,
} from './prometheus-labels.ts'
import type { Records, RefusedRecord, SampleRecord } from './records.ts'
import { requestOfSeries, requestOfSymbols } from './remote-write-kept.ts'
import { staleBits, tagOf, textIn, WireCursor, wireType } from './remote-write-wire.ts'
import { compressed, uncompressed } from './snappy-block.ts'

/**
 * Remote write of Prometheus: `prometheus.WriteRequest` (1.0) and `io.prometheus.write.v2.Request` (2.0), both in the
 * block format of Snappy. The numbers of their fields have nothing in common, so the bytes say which one it is.
 */
export type RemoteWriteVersion = 1 | 2

/** How much of each kind there is. */
export interface RemoteWriteCounts {
  readonly samples: number
  readonly histograms: number
  readonly exemplars: number
}

export interface RemoteWrite {
  readonly ok: true
  /** Undefined: nothing in it says which one it is, because there is nothing in it. */
  readonly version: RemoteWriteVersion | undefined
  /** Samples and native histograms; a series that cannot be read is refused as one record. */
  readonly records: Records
  /** Samples and histograms that say that a series has ended: they are not records. */
  readonly stale: Omit<RemoteWriteCounts, 'exemplars'>
}

/** Characters of labels that all records of a request have together: each record has those of its series. */
const labelLengthMax = 8 * 1024 * 1024

/** Buckets of all native histograms of a request. */
const bucketsMax = 500_000

/** Symbols of a request: twenty new ones for each record. */
const symbolsMax = 200_000

/** The fields of each version. */
const fields = {
  1: { series: 1, samples: 2, exemplars: 3, histograms: 4 },
  2: { series: 5, samples: 2, exemplars: 4, histograms: 3 },
} as const

const symbolsField = 4

/**
 * The records of a request, or what is wrong with all of it.
 *
 * @param body as it is sent, in Snappy
 * @param version refuses a request of the other one
 */
export function remoteWriteRecords(
  body: Uint8Array,
  version?: RemoteWriteVersion,
): RemoteWrite | { readonly ok: false; readonly problem: string } {
  const content = uncompressed(body)
  if (typeof content === 'string') return { ok: false, problem: content }
  try {
    return new RequestReader(content, version).read()
  } catch (error) {
    if (error instanceof UnreadableItem || error instanceof TooMuch) {
      return { ok: false, problem: error.message }
    }
    throw error
  }
}

/** What was written of a request, as 2.0 answers it, by which of its records were accepted. */
export function writtenOf(
  { records, stale }: RemoteWrite,
  isAccepted: (index: number) => boolean,
): RemoteWriteCounts {
  let { samples, histograms } = stale
  for (const [index, record] of records.entries()) {
    if ('problem' in record || !isAccepted(index)) continue
    if (Object.hasOwn(record.members, 'value')) samples++
    else histograms++
  }
  return { samples, histograms, exemplars: 0 }
}

/** What a request has too much of, which refuses all of it. */
class TooMuch extends Error {
  override readonly name = 'TooMuch'
}

/** What is wrong with one series. */
class SeriesProblem extends Error {
  override readonly name = 'SeriesProblem'
}

interface Span {
  readonly start: number
  readonly end: number
}

interface Series {
  readonly labels: Labels
  /** Where samples and native histograms stand. */
  readonly samples: readonly Span[]
  readonly histograms: readonly Span[]
}

class RequestReader {
  readonly #wire: WireCursor
  readonly #given: RemoteWriteVersion | undefined
  readonly #series: Span[] = []
  readonly #symbolSpans: Span[] = []
  /** Read when a label has them. */
  readonly #symbols: (string | undefined)[] = []
  readonly #records: (SampleRecord | RefusedRecord)[] = []
  readonly #stale = { samples: 0, histograms: 0 }
  #version: RemoteWriteVersion | undefined
  #labelLength = 0
  #buckets = 0

  constructor(content: Buffer, given: RemoteWriteVersion | undefined) {
    this.#wire = new WireCursor(content)
    this.#given = given
  }

  /** @throws UnreadableItem, TooMuch */
  read(): RemoteWrite {
    this.#findParts()
    for (const span of this.#series) this.#readSeries(span)
    return { ok: true, version: this.#version, records: this.#records, stale: this.#stale }
  }

  /** Symbols may stand behind the series that have them. */
  #findParts(): void {
    const wire = this.#wire
    const end = wire.bytes.length
    while (wire.at < end) {
      const tag = wire.tag(end)
      const field = tag >>> 3
      const version = field === fields[1].series ? 1 : field === fields[2].series ? 2 : undefined
      if (version !== undefined || field === symbolsField) this.#setVersion(version ?? 2)
      if ((version === undefined && field !== symbolsField) || (tag & 7) !== wireType.bytes) {
        wire.skip(tag, end)
        continue
      }
      const last = wire.endOfValue(end)
      const spans = version === undefined ? this.#symbolSpans : this.#series
      spans.push({ start: wire.at, end: last })
      wire.at = last
      if (this.#series.length > readingsPerMessageMax) throw new TooMuch(tooManyReadings)
      if (this.#symbolSpans.length > symbolsMax) {
        throw new TooMuch(`there are more than ${symbolsMax} symbols`)
      }
    }
  }

  #setVersion(version: RemoteWriteVersion): void {
    const expected = this.#given ?? this.#version ?? version
    if (expected !== version) {
      throw problem(`the message is of remote write ${version}.0, and not only of ${expected}.0`)
    }
    this.#version = version
  }

  #readSeries(span: Span): void {
    const { length } = this.#records
    const stale = { ...this.#stale }
    try {
      const series = this.#partsOf(span)
      this.#addSamples(series)
      this.#addHistograms(series)
    } catch (error) {
      if (!(error instanceof SeriesProblem) && !(error instanceof UnreadableItem)) throw error
      this.#records.length = length
      Object.assign(this.#stale, stale)
      this.#add({ problem: error.message, kept: this.#keptOf(span) })
    }
  }

  #partsOf({ start, end }: Span): Series {
    const wire = this.#wire
    const numbers = fields[this.#version ?? 1]
    const labels: string[] = []
    const samples: Span[] = []
    const histograms: Span[] = []
    wire.at = start
    while (wire.at < end) {
      const tag = wire.tag(end)
      const field = tag >>> 3
      const isText = (tag & 7) === wireType.bytes
      if (field === 1) this.#readLabels(labels, { tag, end })
      else if (isText && (field === numbers.samples || field === numbers.histograms)) {
        const last = wire.endOfValue(end)
        const spans = field === numbers.samples ? samples : histograms
        spans.push({ start: wire.at, end: last })
        wire.at = last
        if (spans.length > readingsPerMessageMax) throw new TooMuch(tooManyReadings)
      } else wire.skip(tag, end)
    }
    if (labels.length % 2 === 1) throw new SeriesProblem('a label has a name and no value')
    return { labels, samples, histograms }
  }

  #readLabels(labels: string[], { tag, end }: { readonly tag: number; readonly end: number }) {
    const wire = this.#wire
    const type = tag & 7
    if (this.#version === 2) {
      if (type === wireType.varint) labels.push(this.#symbol(wire.unsigned(end)))
      else if (type === wireType.bytes) {
        const last = wire.endOfValue(end)
        while (wire.at < last) {
          labels.push(this.#symbol(wire.unsigned(last)))
          if (labels.length > labelsMax * 2) throw new SeriesProblem(tooManyLabels)
        }
      } else wire.skip(tag, end)
    } else if (type === wireType.bytes) this.#readLabel(labels, wire.endOfValue(end))
    else wire.skip(tag, end)
    if (labels.length > labelsMax * 2) throw new SeriesProblem(tooManyLabels)
  }

  #readLabel(labels: string[], end: number): void {
    const wire = this.#wire
    let name = ''
    let value = ''
    while (wire.at < end) {
      const tag = wire.tag(end)
      const field = tag >>> 3
      if ((tag & 7) !== wireType.bytes || field > 2) {
        wire.skip(tag, end)
        continue
      }
      const last = wire.endOfValue(end)
      const text = this.#text({ start: wire.at, end: last })
      if (field === 1) name = text
      else value = text
      wire.at = last
    }
    labels.push(name, value)
  }

  #symbol(index: number): string {
    const known = this.#symbols[index]
    if (known !== undefined) return known
    const span = this.#symbolSpans[index]
    if (span === undefined) {
      const count = this.#symbolSpans.length
      throw new SeriesProblem(`a label names symbol ${index}, and there are ${count} symbols`)
    }
    const text = this.#text(span)
    this.#symbols[index] = text
    return text
  }

  #text({ start, end }: Span): string {
    const text = textIn(this.#wire.bytes, start, end)
    if (text === undefined) {
      throw new SeriesProblem('a label is not valid UTF-8, or has U+0000 in it')
    }
    return text
  }

  #addSamples({ labels, samples }: Series): void {
    const [first] = samples
    if (first === undefined) return
    const members = membersOf(labels)
    const length = lengthOf(labels)
    for (const { start, end } of samples) {
      const { value, timeMs, isStale } = this.#sample(start, end)
      if (isStale) this.#stale.samples++
      else {
        this.#takeLabels(length)
        this.#add({ members: { ...members, value }, timeUs: usOf(timeMs) })
      }
    }
  }

  #sample(start: number, end: number) {
    const wire = this.#wire
    let value = 0
    let timeMs = 0
    let isStale = false
    wire.at = start
    while (wire.at < end) {
      const tag = wire.tag(end)
      if (tag === tagOf(1, wireType.bits64)) {
        isStale = wire.isDouble(...staleBits)
        value = wire.double(end)
      } else if (tag === tagOf(2, wireType.varint)) timeMs = wire.signed(end)
      else wire.skip(tag, end)
    }
    return { value, timeMs, isStale }
  }

  #addHistograms({ labels, histograms }: Series): void {
    const [first] = histograms
    if (first === undefined) return
    const named = membersOf(labels, histogramNames)
    const length = lengthOf(labels)
    for (const { start, end } of histograms) {
      this.#wire.at = start
      const { members, timeMs, isStale, buckets } = nativeHistogram(this.#wire, end)
      if (isStale) this.#stale.histograms++
      else {
        this.#takeLabels(length)
        this.#buckets += buckets
        if (this.#buckets > bucketsMax) {
          throw new TooMuch(`the histograms have more than ${bucketsMax} buckets together`)
        }
        this.#add({ members: { ...named, ...members }, timeUs: usOf(timeMs) })
      }
    }
  }

  #takeLabels(length: number): void {
    this.#labelLength += length
    if (this.#labelLength <= labelLengthMax) return
    throw new TooMuch(`the labels of all samples have more than ${labelLengthMax} characters`)
  }

  #add(record: SampleRecord | RefusedRecord): void {
    if (this.#records.length === readingsPerMessageMax) throw new TooMuch(tooManyReadings)
    this.#records.push(record)
  }

  /** A request of this series alone. */
  #keptOf({ start, end }: Span): Uint8Array {
    const { bytes } = this.#wire
    const series = bytes.subarray(start, end)
    if (this.#version !== 2) return compressed(requestOfSeries(series))
    return compressed(
      requestOfSymbols(series, (index) => {
        const symbol = this.#symbolSpans[index]
        if (symbol === undefined) return undefined
        this.#takeLabels(symbol.end - symbol.start)
        return bytes.subarray(symbol.start, symbol.end)
      }),
    )
  }
}

/** @throws SeriesProblem */
function membersOf(labels: Labels, own?: readonly string[]): LabelMembers {
  const members = labelMembers(undefined, labels, own)
  if (typeof members === 'string') throw new SeriesProblem(members)
  return members
}

function lengthOf(labels: Labels): number {
  return labels.reduce((sum, text) => sum + text.length, 0)
}

/** @throws SeriesProblem */
function usOf(timeMs: number): number {
  const timeUs = timeMs * 1_000
  if (!isWritableInstant(timeUs)) {
    throw new SeriesProblem('a time is not in the years 0001 to 9999')
  }
  return timeUs
}
