import { isUtf8 } from 'node:buffer'
import type {
  DecodedMessage,
  DecodedStream,
  Decoder,
  KeptReading,
  RefusedReading,
  UndecodableMessage,
} from '../src/contracts/reading.ts'
import type { LinePrecision, StreamSchema } from '../src/contracts/stream-schema.ts'
import { timeMemberOf } from '../src/contracts/time-member.ts'
import { isWritableInstant } from '../src/core/time.ts'
import { batchOf, readingsPerMessageMax, tooManyReadings } from './decode-batch.ts'
import { LineParser, type LineTime, type ReadLine } from './line-protocol/line-parser.ts'
import { inNanoseconds, instantOf } from './line-protocol/precision.ts'
import { readingOf } from './records.ts'
import { type LineScan, lineScanOf } from './scan-lines.ts'
import { implausible } from './times/plausible.ts'
import { markProblem, textOfPayload } from './typed-text.ts'

/**
 * A decoder of InfluxDB line protocol, each line of which is a reading: its measurement, tags and fields by their names.
 *
 * @param given the unit of times that a request names: what is refused is kept with its time in nanoseconds then. The
 *   definition names that of all other messages, and they are read again by what it says at that time.
 */
export function lineDecoder(stream: DecodedStream, given?: LinePrecision): Decoder {
  const precision = given ?? stream.formatOptions?.precision ?? 'ns'
  const scan = lineScanOf(stream.schema, precision)
  // The judge takes what was scanned where it takes what is scanned in JSON.
  return (payload, jsonScan) =>
    decodeLines(payload, { stream, precision, given, scan: jsonScan && scan })
}

/** Decoders by the schema, which streams of one definition share: each has to be compiled. */
const shared = new WeakMap<StreamSchema, Map<LinePrecision, Decoder>>()

/** The decoder of a stream for requests that name a precision, made once for all streams of its definition. */
export function sharedLineDecoder(stream: DecodedStream, given: LinePrecision): Decoder {
  const known = shared.get(stream.schema) ?? new Map<LinePrecision, Decoder>()
  shared.set(stream.schema, known)
  const decoder = known.get(given) ?? lineDecoder(stream, given)
  known.set(given, decoder)
  return decoder
}

interface LineNeeds {
  readonly stream: DecodedStream
  readonly precision: LinePrecision
  readonly given: LinePrecision | undefined
  readonly scan: LineScan | undefined
}

function decodeLines(payload: Uint8Array, needs: LineNeeds): DecodedMessage | UndecodableMessage {
  const { given } = needs
  const content = textOfPayload(payload)
  if (!content.ok && content.problem === markProblem) return content
  const { buffer, byteOffset, byteLength } = payload
  const bytes = Buffer.from(buffer, byteOffset, byteLength)
  const isText = content.ok || isUtf8(payload)
  // Where some lines are no text, bytes stand for characters: what lines are cut by is ASCII.
  const text = bytes.toString(isText ? 'utf8' : 'latin1')
  const lines = new Lines(needs)
  if (!lines.readAll(text, isText)) return { ok: false, problem: tooManyReadings }
  const { readings, unreadable, refused, places } = lines
  const elements = () =>
    places.map(({ start, end }) =>
      isText ? Buffer.from(text.slice(start, end)) : payload.subarray(start, end),
    )
  let lazily: readonly Uint8Array[] | undefined
  const kept = (index: number): KeptReading => {
    lazily ??= elements()
    const line = lazily[index] ?? payload
    // A line is a message of its own.
    if (given === undefined) return { payload: line, format: 'line-protocol', isElement: false }
    return { payload: keptInNanoseconds(line, given), format: 'line-protocol', isElement: true }
  }
  return batchOf({ readings, format: 'line-protocol', unreadable, refused, elements, kept })
}

/** Where a line stands in its text. */
interface Place {
  readonly start: number
  readonly end: number
}

/** What is made of the lines of a text. */
class Lines {
  readonly readings: unknown[] = []
  readonly places: Place[] = []
  readonly unreadable = new Map<number, string>()
  readonly refused = new Map<number, RefusedReading>()
  readonly #needs: LineNeeds

  constructor(needs: LineNeeds) {
    this.#needs = needs
  }

  /** False where there are too many of them. */
  readAll(text: string, isText: boolean): boolean {
    const { readings, places } = this
    const scan = isText ? this.#needs.scan : undefined
    const parser = new LineParser(text)
    while (readings.length <= readingsPerMessageMax) {
      const start = parser.at
      const reading = scan?.find(text, start)
      if (scan !== undefined && reading !== undefined) {
        readings.push(reading)
        places.push({ start, end: scan.end })
        parser.moveTo(scan.next)
        continue
      }
      const line = parser.next()
      if (line === undefined) return true
      places.push(line)
      if (isText) this.#add(line)
      else this.#addBytes(Buffer.from(text.slice(line.start, line.end), 'latin1'))
    }
    return false
  }

  /** A line among others that are no text. */
  #addBytes(line: Buffer): void {
    const read = isUtf8(line) ? new LineParser(line.toString()).next() : undefined
    this.#add(read ?? { problem: 'not valid UTF-8' })
  }

  #add(line: ReadLine | { readonly problem: string }): void {
    const { readings } = this
    const { stream } = this.#needs
    const problem = 'problem' in line ? line.problem : lossIn(line, stream.schema)
    if (problem !== undefined || 'problem' in line) {
      this.unreadable.set(readings.length, problem ?? '')
      readings.push(undefined)
      return
    }
    const { members, time } = line
    const timeUs = time && this.#instant(time)
    readings.push(readingOf({ members, timeUs }, stream))
  }

  /** Microseconds of a time; undefined where it is refused. */
  #instant({ digits }: LineTime): number | undefined {
    const { stream, precision } = this.#needs
    const us = instantOf(digits, precision)
    const { length } = this.readings
    if (us < 0 && !isWritableInstant(us)) {
      this.unreadable.set(length, `the time ${digits} is not in the years 0001 to 9999`)
      return undefined
    }
    const refusal = us < 0 ? undefined : implausibleTime(digits, precision, stream.schema)
    if (refusal !== undefined) {
      this.refused.set(length, refusal)
      return undefined
    }
    // Exact for all times that are accepted.
    return Number(us)
  }
}

/** What a reading would lose of a line, which is refused for it. */
function lossIn({ members, rounded, time }: ReadLine, schema: StreamSchema): string | undefined {
  const timeName = timeMemberOf(schema) ?? schema.timestampField
  if (time !== undefined && Object.hasOwn(members, timeName)) {
    return `the line has a time and a tag or field ${timeName}, where the stream has its time: another timestampField keeps both`
  }
  // What no number is read from keeps all of its digits as a text.
  const lost = rounded.find((name) => {
    const field = Object.hasOwn(schema.fields, name) ? schema.fields[name] : undefined
    return field?.from === undefined && (field?.type === 'number' || field?.type === 'integer')
  })
  if (lost === undefined) return undefined
  return `the integer ${String(members[lost])} of the field ${lost} is beyond 2^53 and would be rounded`
}

/** As for numbers of units elsewhere: a time that nobody means is one in another unit. */
function implausibleTime(
  digits: string,
  precision: LinePrecision,
  { time, timestampField: path }: StreamSchema,
): RefusedReading | undefined {
  const found = implausible({
    us: instantOf(digits, precision),
    format: `epoch_${precision}`,
    minUs: time?.minUs,
    usIn: (format) => instantOf(digits, format.slice('epoch_'.length) as LinePrecision),
  })
  if (found === undefined) return undefined
  const message = found.problem.replaceAll('epoch_', 'precision ')
  return {
    accepted: false,
    reason: 'timestamp_implausible',
    message: `${path} ${message}`,
    details: [{ path, message }],
    timestampUs: undefined,
  }
}

/** A line with its time in nanoseconds. */
function keptInNanoseconds(line: Uint8Array, precision: LinePrecision): Uint8Array {
  const text = Buffer.from(line).toString()
  const read = new LineParser(text).next()
  const time = read !== undefined && 'time' in read ? read.time : undefined
  if (time === undefined || !isUtf8(line)) return line
  const { digits, start } = time
  const after = text.slice(start + digits.length)
  return Buffer.from(text.slice(0, start) + inNanoseconds(digits, precision) + after)
}
