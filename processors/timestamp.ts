import { formatUs, parseRfc3339, type TimeProblem } from '../src/core/time.ts'
import type { StreamSchema, TimestampFormat } from '../src/pipeline/stream-schema.ts'

/** Microseconds in one unit of each epoch format. */
const unitUs: Readonly<Record<Exclude<TimestampFormat, 'rfc3339'>, number>> = {
  epoch_s: 1_000_000,
  epoch_ms: 1_000,
  epoch_us: 1,
}

/**
 * The time that a reading claims, in microseconds since the epoch; `undefined` when it claims none,
 * a problem when it claims one that is not acceptable (D19, D63).
 */
export function timestampOf(
  reading: Readonly<Record<string, unknown>>,
  schema: StreamSchema,
): number | TimeProblem | undefined {
  const { timestampField, timestampFormat } = schema
  if (!Object.hasOwn(reading, timestampField)) return undefined
  return timeOf(reading[timestampField], timestampFormat)
}

/** The time that a value means, or what is wrong with it. */
export function timeOf(claimed: unknown, format: TimestampFormat): number | TimeProblem {
  const timestampUs = format === 'rfc3339' ? instantOf(claimed) : epochOf(claimed, unitUs[format])
  if (typeof timestampUs === 'number' && timestampUs < 0) {
    return { problem: 'times before 1970 are not accepted' }
  }
  return timestampUs
}

/** How a reading says a time in this format: `timeOf` reads it again. */
export function claimOf(timestampUs: number, format: TimestampFormat): string | number {
  return format === 'rfc3339' ? formatUs(timestampUs) : timestampUs / unitUs[format]
}

function instantOf(claimed: unknown): number | TimeProblem {
  if (typeof claimed !== 'string') return { problem: 'must be a text in RFC 3339 format' }
  return parseRfc3339(claimed)
}

function epochOf(claimed: unknown, unit: number): number | TimeProblem {
  if (typeof claimed !== 'number' || !Number.isFinite(claimed)) {
    return { problem: 'must be a number of units since 1970' }
  }
  const timestampUs = epochUs(claimed, unit)
  return timestampUs > Number.MAX_SAFE_INTEGER
    ? { problem: 'is beyond the year 2255' }
    : timestampUs
}

/**
 * Microseconds of a number of units since the epoch. What is finer is cut off towards the past, as it is
 * in RFC 3339: one instant is one time, however it is spelled.
 */
export function epochUs(count: number, unit: number): number {
  // Zero is added because -0 is no other time than 0.
  if (Number.isInteger(count)) return count * unit + 0
  return count < 0 ? -wholeUs(-count, unit, Math.ceil) : wholeUs(count, unit, Math.floor)
}

/**
 * By the decimal digits of a number that is no integer, as they were sent: a product of doubles such as
 * 1.000001 * 1e6 may be just below what was meant.
 */
function wholeUs(count: number, unit: number, toWhole: (value: number) => number): number {
  // Smaller ones are written with an exponent, and are less than a microsecond in any unit.
  if (count < 0.000001) return toWhole(count)
  const text = String(count)
  const point = text.indexOf('.')
  const places = String(unit).length - 1
  const digits = text.slice(point + 1).padEnd(places, '0')
  const finer = Number(`0.${digits.slice(places)}`)
  return Math.floor(count) * unit + Number(digits.slice(0, places)) + toWhole(finer)
}
