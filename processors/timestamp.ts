import { follow, parsePath } from '../src/contracts/path.ts'
import type { StreamSchema, TimeRules, TimestampFormat } from '../src/contracts/stream-schema.ts'
import { sourceOf } from '../src/core/number-sources.ts'
import {
  comparableUs,
  formatUs,
  type InstantUs,
  parseInstant,
  parseRfc3339,
  type TimeProblem,
} from '../src/core/time.ts'
import {
  countText,
  decimalUs,
  epochPlaces,
  epochUs,
  isNumberText,
  scaledDecimal,
  sumPlaces,
  sumUs,
} from './times/epochs.ts'
import { readLocal } from './times/local-times.ts'
import { implausible, likelyEpoch, tooEarly } from './times/plausible.ts'
import { parseTimePattern } from './times/time-pattern.ts'
import { type ExactTime, exactTime, type WallTime } from './times/wall-time.ts'

type Reading = Readonly<Record<string, unknown>>

/**
 * Reads the time that readings claim, in microseconds since the epoch; `undefined` where one claims none,
 * a problem where it claims one that is not acceptable (decisions.md#times-of-readings).
 */
export function timeClaimsOf(
  schema: StreamSchema,
): (reading: Reading) => number | TimeProblem | undefined {
  const { timestampField, timestampFormat, time } = schema
  const read = timeReaderOf(schema)
  const hasDigits = timestampFormat !== 'rfc3339'
  if (time === undefined) {
    return (reading) => {
      if (!Object.hasOwn(reading, timestampField)) return undefined
      const source = hasDigits ? sourceOf(reading, timestampField) : undefined
      return read({ value: reading[timestampField], source })
    }
  }
  const valueOf = pathValue(timestampField)
  const offsetOf = time.offset === undefined ? () => none : pathValue(time.offset.path)
  return (reading) => {
    const { value, source } = valueOf(reading, hasDigits)
    if (value === undefined) return undefined
    const offset = offsetOf(reading, true)
    return read({ value, source, offset: offset.value, offsetSource: offset.source })
  }
}

interface Found {
  readonly value: unknown
  readonly source?: string | undefined
}

type Finder = (reading: Reading, hasDigits: boolean) => Found

const none: Found = { value: undefined }

function memberValue(name: string): Finder {
  return (reading, hasDigits) => {
    if (!Object.hasOwn(reading, name)) return none
    return { value: reading[name], source: hasDigits ? sourceOf(reading, name) : undefined }
  }
}

/** What stands elsewhere than in the reading itself is found by whoever maps its message. */
function pathValue(text: string): Finder {
  const path = parsePath(text)
  if ('problem' in path || path.root !== 'item') return () => none
  const { steps } = path
  const [step] = steps
  if (steps.length === 1 && typeof step === 'string') return memberValue(step)
  return (reading) => ({ value: follow(reading, steps) })
}

/** What a reading says about its time. */
export interface TimeClaim {
  readonly value: unknown
  /** The digits that a number was sent with, where its double may have fewer. */
  readonly source?: string | undefined
  /** What stands where the rules for times have an offset. */
  readonly offset?: unknown
  /** The digits that the offset was sent with, where its double may have fewer. */
  readonly offsetSource?: string | undefined
}

/** The time that a reading claims, in microseconds since the epoch, or what is wrong with it. */
export type TimeReader = (claim: TimeClaim) => number | TimeProblem

/** Reads times by the rules of a schema. */
export function timeReaderOf({
  timestampFormat: format,
  time,
}: Pick<StreamSchema, 'timestampFormat' | 'time'>): TimeReader {
  // RFC 3339 means what it always did, unless a rule is about the time itself.
  const isUsual = format === 'rfc3339' && time?.offset === undefined && time?.minUs === undefined
  if (time === undefined || isUsual) return readerOfBefore(format)
  const places = epochPlaces(format)
  const read = places === undefined ? textReader(format, time) : epochReader(format, places, time)
  return (claim) => acceptable(read(claim), time)
}

/** What definitions mean that were made before there were rules for times: an epoch is a number there. */
function readerOfBefore(format: TimestampFormat): TimeReader {
  const places = epochPlaces(format)
  if (places === undefined) {
    const read = instantReader(format, undefined)
    return ({ value }) => {
      if (typeof value !== 'string') return notText(value)
      const found = format === 'rfc3339' ? parseRfc3339(value) : read(value)
      return typeof found === 'object' && 'us' in found ? since1970(found.us) : since1970(found)
    }
  }
  return ({ value, source }) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) return notCount(value)
    const us = source === undefined ? epochUs(value, places) : decimalUs(source, places)
    return typeof us === 'bigint' && us > 0n
      ? { problem: 'is beyond the year 2255' }
      : since1970(us)
  }
}

function notText(value: unknown): TimeProblem {
  const fit = typeof value === 'number' ? likelyEpoch(value) : undefined
  const advice = fit === undefined ? '' : `, or timestampFormat ${fit} for such a number`
  return { problem: `must be a text in RFC 3339 format${advice}` }
}

function notCount(value: unknown): TimeProblem {
  const isText = typeof value === 'string' && typeof parseInstant(value) === 'number'
  const advice = isText ? ', or timestampFormat rfc3339 for such a text' : ''
  return { problem: `must be a number of units since 1970${advice}` }
}

function since1970(found: InstantUs | TimeProblem): number | TimeProblem {
  if (typeof found === 'object') return found
  return found < 0 ? { problem: 'times before 1970 are not accepted' } : comparableUs(found)
}

function acceptable(
  found: InstantUs | TimeProblem,
  { minUs }: Pick<TimeRules, 'minUs'>,
): number | TimeProblem {
  const timestampUs = since1970(found)
  return typeof timestampUs === 'object'
    ? timestampUs
    : (tooEarly(timestampUs, minUs) ?? timestampUs)
}

type InstantReader = (claim: TimeClaim) => InstantUs | TimeProblem

function epochReader(format: TimestampFormat, places: number, rules: TimeRules): InstantReader {
  const { offset, minUs } = rules
  const added = offset === undefined ? undefined : offsetReader(offset)
  return (claim) => {
    const { value, source } = claim
    const sum = added?.(claim) ?? 0n
    if (typeof sum === 'object') return sum
    const text = countText(value, source)
    if (typeof text !== 'string') return text
    const usIn = (one: TimestampFormat) => unitsUs(text, epochPlaces(one) ?? 0, sum)
    const us =
      added === undefined && typeof value === 'number' && source === undefined
        ? epochUs(value, places)
        : unitsUs(text, places, sum)
    return us < 0 ? us : (implausible({ us, format, minUs, usIn }) ?? us)
  }
}

/** Microseconds of a number of units and a sum that is added to it. */
function unitsUs(text: string, places: number, sum: bigint): InstantUs {
  return sum === 0n ? decimalUs(text, places) : sumUs(scaledDecimal(text, sumPlaces - places) + sum)
}

function textReader(format: TimestampFormat, rules: TimeRules): InstantReader {
  const read = instantReader(format, rules.zone)
  const added = rules.offset === undefined ? undefined : offsetReader(rules.offset)
  return (claim) => {
    const { value } = claim
    if (typeof value !== 'string') {
      return format === 'rfc3339' ? notText(value) : { problem: 'must be a text' }
    }
    const found = read(value)
    if ('problem' in found || added === undefined) return 'problem' in found ? found : found.us
    const sum = added(claim)
    if (typeof sum === 'object') return sum
    const finer = found.finer.slice(0, sumPlaces - 6).padEnd(sumPlaces - 6, '0')
    return sumUs(BigInt(found.us) * 10n ** BigInt(sumPlaces - 6) + BigInt(finer) + sum)
  }
}

/** Reads texts. One in RFC 3339 is a time whatever the pattern: files have times like that, and so does what is SenML. */
function instantReader(
  format: TimestampFormat,
  zone = 'UTC',
): (text: string) => ExactTime | TimeProblem {
  if (format === 'rfc3339') return readInstant
  const parts = (wall: WallTime | TimeProblem) => ('problem' in wall ? wall : exactTime(wall, zone))
  if (format === 'local') return (text) => parts(readLocal(text))
  const pattern = parseTimePattern(format)
  if ('problem' in pattern) return () => pattern
  return (text) => {
    const found = parts(pattern.read(text))
    if ('us' in found) return found
    const instant = readInstant(text)
    return 'us' in instant ? instant : found
  }
}

function readInstant(text: string): ExactTime | TimeProblem {
  const us = parseInstant(text)
  if (typeof us === 'object') return us
  return { us, finer: /\.\d{6}(\d+)/.exec(text)?.[1] ?? '' }
}

const offsetPlaces = { s: 0, ms: 3, us: 6, ns: 9 } as const

/** Reads what is added to a time, with all places of a sum. */
function offsetReader({ path, unit }: NonNullable<TimeRules['offset']>) {
  return ({ offset, offsetSource }: TimeClaim): bigint | TimeProblem => {
    if (offset === undefined) return { problem: `needs ${path}, which is added to it` }
    const text = typeof offset === 'number' ? (offsetSource ?? String(offset)) : offset
    if (typeof text === 'string' && isNumberText(text)) {
      return scaledDecimal(text, sumPlaces - offsetPlaces[unit])
    }
    return { problem: `needs a number at ${path}, which is added to it` }
  }
}

/**
 * The time that a value means, or what is wrong with it.
 *
 * @param source the digits that a number was sent with, where its double may have fewer
 */
export function timeOf(
  value: unknown,
  timestampFormat: TimestampFormat,
  source?: string,
): number | TimeProblem {
  return timeReaderOf({ timestampFormat })({ value, source })
}

/** How a reading says a time in this format: its reader reads it again. */
export function claimOf(timestampUs: number, format: TimestampFormat): string | number {
  const places = epochPlaces(format)
  // A text that names its zone is read by it, and a double does not count nanoseconds.
  if (places === undefined) return formatUs(timestampUs)
  return places > 6 ? `${timestampUs}000` : timestampUs / 10 ** (6 - places)
}
