import type { StreamSchema, TimestampFormat } from '../src/contracts/stream-schema.ts'
import { sourceOf } from '../src/core/number-sources.ts'
import {
  formatUs,
  type InstantUs,
  narrowed,
  parseRfc3339,
  type TimeProblem,
} from '../src/core/time.ts'

/** Microseconds in one unit of each epoch format. */
const unitUs: Readonly<Partial<Record<TimestampFormat, number>>> = {
  epoch_s: 1_000_000,
  epoch_ms: 1_000,
  epoch_us: 1,
}

/**
 * The time that a reading claims, in microseconds since the epoch; `undefined` when it claims none,
 * a problem when it claims one that is not acceptable (decisions.md#times-of-readings).
 */
export function timestampOf(
  reading: Readonly<Record<string, unknown>>,
  schema: StreamSchema,
): number | TimeProblem | undefined {
  const { timestampField, timestampFormat } = schema
  if (!Object.hasOwn(reading, timestampField)) return undefined
  const source = timestampFormat === 'rfc3339' ? undefined : sourceOf(reading, timestampField)
  return timeOf(reading[timestampField], timestampFormat, source)
}

/** What a reading says about its time. */
export interface TimeClaim {
  readonly value: unknown
  /** The digits that a number was sent with, where its double may have fewer. */
  readonly source?: string | undefined
  /** What stands where the rules for times have an offset. */
  readonly offset?: unknown
}

/** The time that a reading claims, in microseconds since the epoch, or what is wrong with it. */
export type TimeReader = (claim: TimeClaim) => number | TimeProblem

/** Reads times by the rules of a schema. */
export function timeReaderOf({
  timestampFormat,
}: Pick<StreamSchema, 'timestampFormat' | 'time'>): TimeReader {
  return ({ value, source }) => timeOf(value, timestampFormat, source)
}

/**
 * The time that a value means, or what is wrong with it.
 *
 * @param source the digits that a number was sent with, where its double may have fewer
 */
export function timeOf(
  claimed: unknown,
  format: TimestampFormat,
  source?: string,
): number | TimeProblem {
  const timestampUs =
    format === 'rfc3339' ? instantOf(claimed) : epochOf(claimed, unitUs[format] ?? 1, source)
  if (typeof timestampUs === 'number' && timestampUs < 0) {
    return { problem: 'times before 1970 are not accepted' }
  }
  return timestampUs
}

/** How a reading says a time in this format: `timeOf` reads it again. */
export function claimOf(timestampUs: number, format: TimestampFormat): string | number {
  return format === 'rfc3339' ? formatUs(timestampUs) : timestampUs / (unitUs[format] ?? 1)
}

function instantOf(claimed: unknown): number | TimeProblem {
  if (typeof claimed !== 'string') return { problem: 'must be a text in RFC 3339 format' }
  return parseRfc3339(claimed)
}

function epochOf(claimed: unknown, unit: number, source: string | undefined): number | TimeProblem {
  if (typeof claimed !== 'number' || !Number.isFinite(claimed)) {
    return { problem: 'must be a number of units since 1970' }
  }
  const timestampUs = source === undefined ? epochUs(claimed, unit) : decimalUs(source, unit)
  return typeof timestampUs === 'bigint' && timestampUs > 0n
    ? { problem: 'is beyond the year 2255' }
    : Number(timestampUs)
}

/**
 * Microseconds of a number of units since the epoch. What is finer is cut off towards the past, as it is
 * in RFC 3339: one instant is one time, however it is spelled.
 */
export function epochUs(count: number, unit: number): InstantUs {
  // Neither is a time, and no digits say so.
  if (!Number.isFinite(count)) return Number.NaN
  const whole = count * unit
  // Zero is added because -0 is no other time than 0.
  return Number.isInteger(count) && Number.isSafeInteger(whole)
    ? whole + 0
    : decimalUs(String(count), unit)
}

/**
 * By the decimal digits of a number as they were sent: a product of doubles such as 1.000001 * 1e6 may be just below
 * what was meant, and the double next to a number of many digits may be above it.
 */
function decimalUs(text: string, unit: number): InstantUs {
  return narrowed(scaledDecimal(text, String(unit).length - 1))
}

/** Places of a sum of decimals, finer than any clock. */
const sumPlaces = 30
const usInSum = 10n ** BigInt(sumPlaces - 6)

/** Microseconds of a sum of decimal numbers of seconds, cut off once they are added up. */
export function secondsSumUs(texts: readonly string[]): number {
  const sum = texts.reduce((total, text) => total + scaledDecimal(text, sumPlaces), 0n)
  const us = sum / usInSum
  return Number(sum < 0n && sum % usInSum !== 0n ? us - 1n : us)
}

const decimalPattern = /^(-?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i

/** No year has so many digits before the point, in any unit. */
const wholeDigitsMax = 20

/** A decimal number times a power of ten, cut off towards the past; more than any time where it is. */
function scaledDecimal(text: string, places: number): bigint {
  const [, sign, whole = '', decimals = '', exponent = '0'] = decimalPattern.exec(text) ?? []
  const digits = whole + decimals
  const first = digits.search(/[1-9]/)
  if (first < 0) return 0n
  /** How many digits stand before the point, once it is moved. */
  const before = whole.length - first + Number(exponent) + places
  const length = Math.max(0, Math.min(before, wholeDigitsMax + places))
  const kept = BigInt(digits.slice(first, first + length).padEnd(length, '0'))
  if (sign !== '-') return kept
  const isCut = /[1-9]/.test(digits.slice(first + length))
  return isCut ? -kept - 1n : -kept
}
