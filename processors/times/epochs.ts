import type { TimestampFormat } from '../../src/contracts/stream-schema.ts'
import { type InstantUs, narrowed, type TimeProblem } from '../../src/core/time.ts'

/** Places of a unit behind the second, of each epoch format. */
const placesOf: ReadonlyMap<TimestampFormat, number> = new Map([
  ['epoch_s', 0],
  ['epoch_ms', 3],
  ['epoch_us', 6],
  ['epoch_ns', 9],
])

export const epochFormats: readonly TimestampFormat[] = [...placesOf.keys()]

/** Places of a unit behind the second; undefined: the format has no units. */
export function epochPlaces(format: TimestampFormat): number | undefined {
  return placesOf.get(format)
}

/** Places behind the second that sums are made with, finer than any clock. */
export const sumPlaces = 30

/** Longer texts are no number of units. */
const textLengthMax = 1_000

const numberText = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i

/** A text that is a number of units. */
export function isNumberText(text: string): boolean {
  return text.length <= textLengthMax && numberText.test(text)
}

/**
 * The digits of a number of units.
 *
 * @param source those that it was sent with, where its double may have fewer
 */
export function countText(claimed: unknown, source: string | undefined): string | TimeProblem {
  if (typeof claimed === 'number' && Number.isFinite(claimed)) return source ?? String(claimed)
  if (typeof claimed === 'string' && isNumberText(claimed)) return claimed
  return { problem: 'must be a number of units since 1970, or a text that is one' }
}

/**
 * Microseconds of a number of units since the epoch. What is finer is cut off towards the past, as it is
 * in RFC 3339: one instant is one time, however it is spelled.
 *
 * @param places of the unit behind the second
 */
export function epochUs(count: number, places: number): InstantUs {
  // Neither is a time, and no digits say so.
  if (!Number.isFinite(count)) return Number.NaN
  const whole = count * 10 ** (6 - places)
  // Zero is added because -0 is no other time than 0.
  return places <= 6 && Number.isInteger(count) && Number.isSafeInteger(whole)
    ? whole + 0
    : decimalUs(String(count), places)
}

/**
 * By the decimal digits of a number as they were sent: a product of doubles such as 1.000001 * 1e6 may be just below
 * what was meant, and the double next to a number of many digits may be above it.
 *
 * @param places of the unit behind the second
 */
export function decimalUs(text: string, places: number): InstantUs {
  return narrowed(scaledDecimal(text, 6 - places))
}

const usInSum = 10n ** BigInt(sumPlaces - 6)

/** Microseconds of a sum of decimal numbers of seconds, cut off once they are added up. */
export function secondsSumUs(texts: readonly string[]): number {
  return Number(sumUs(texts.reduce((total, text) => total + scaledDecimal(text, sumPlaces), 0n)))
}

/** Microseconds of a sum that was made with all places, cut off towards the past. */
export function sumUs(sum: bigint): InstantUs {
  const us = sum / usInSum
  return narrowed(sum < 0n && sum % usInSum !== 0n ? us - 1n : us)
}

const decimalPattern = /^(-?)(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i

/** No year has so many digits before the point, in any unit. */
const wholeDigitsMax = 20

/** A decimal number times a power of ten, cut off towards the past; more than any time where it is. */
export function scaledDecimal(text: string, places: number): bigint {
  const [, sign, whole = '', decimals = '', exponent = '0'] = decimalPattern.exec(text) ?? []
  const digits = whole + decimals
  const first = digits.search(/[1-9]/)
  if (first < 0) return 0n
  /** How many digits stand before the point, once it is moved. */
  const before = whole.length - first + Number(exponent) + places
  const length = Math.max(0, Math.min(before, wholeDigitsMax + Math.max(0, places)))
  const kept = BigInt(digits.slice(first, first + length).padEnd(length, '0'))
  if (sign !== '-') return kept
  const isCut = /[1-9]/.test(digits.slice(first + length))
  return isCut ? -kept - 1n : -kept
}
