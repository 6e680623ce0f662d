/**
 * RFC 3339 instants to and from microseconds since the Unix epoch.
 *
 * `Date.parse` is of no use here: it accepts far more than RFC 3339 and stops at milliseconds.
 */

const digitZero = 48
const digitNine = 57
const usPerSecond = 1_000_000
const secondsPerDay = 86_400
const monthDays = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Microseconds since the epoch, exactly: a number where doubles count them one by one, and a bigint where they no
 * longer do, which is before 1684 and after 2255.
 */
export type InstantUs = number | bigint

/** Why a text is not an instant: a sentence for the sender. */
export interface TimeProblem {
  /** Set where the time can be read, and cannot be meant. */
  readonly isImplausible?: boolean
  readonly problem: string
}

/** Digits of `text` at [from, from + count) as a number, or -1. */
function digits(text: string, from: number, count: number): number {
  let value = 0
  for (let index = from; index < from + count; index++) {
    const code = text.charCodeAt(index)
    if (!(code >= digitZero && code <= digitNine)) return -1
    value = value * 10 + code - digitZero
  }
  return value
}

function isLeapYear(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
}

/** Days from 1970-01-01 to a civil date (Hinnant, "chrono-compatible low-level date algorithms"). */
function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1
  const dayOfEra =
    yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * 146_097 + dayOfEra - 719_468
}

const firstUs = daysFromCivil(1, 1, 1) * secondsPerDay * usPerSecond
const endUs = daysFromCivil(10_000, 1, 1) * secondsPerDay * usPerSecond

/** Whether RFC 3339 can write an instant in UTC: its year has to be 0001 to 9999. */
export function isWritableInstant(instantUs: InstantUs): boolean {
  return instantUs >= firstUs && instantUs < endUs
}

/** Whole seconds and microseconds, of which there may be more than a second has, as one count. */
export function instantUsOf(seconds: number | bigint, micros: number): InstantUs {
  if (typeof seconds === 'number') {
    const instantUs = seconds * usPerSecond + micros
    if (Number.isSafeInteger(instantUs)) return instantUs
  }
  return narrowed(BigInt(seconds) * BigInt(usPerSecond) + BigInt(micros))
}

/** Makes the instant a number where a double can hold it exactly. */
export function narrowed(instantUs: bigint): InstantUs {
  const number = Number(instantUs)
  return Number.isSafeInteger(number) ? number : instantUs
}

/** Exactly what an RFC 3339 date-time with a zone means; fraction digits beyond six are cut off. */
export function parseInstant(text: string): InstantUs | TimeProblem {
  const day = parseDate(text)
  if (typeof day !== 'number') return day
  const second = parseTimeOfDay(text)
  if (typeof second !== 'number') return second
  let at = 19
  let fractionUs = 0
  if (text.charCodeAt(at) === 46) {
    const from = ++at
    let scale = 100_000
    while (digits(text, at, 1) >= 0) {
      fractionUs += digits(text, at, 1) * Math.floor(scale)
      scale /= 10
      at++
    }
    if (at === from) return { problem: 'must have digits after the point of its seconds' }
  }
  const offset = parseOffset(text, at)
  if (typeof offset !== 'number') return offset
  const instantUs = instantUsOf(day * secondsPerDay + second - offset, fractionUs)
  if (!isWritableInstant(instantUs)) {
    return { problem: 'must have a year from 0001 to 9999 in UTC' }
  }
  return instantUs
}

/** Beyond 2^53 and up to the end of the last year, doubles are these microseconds apart, or less. */
const doublesApartUs = 64n

/**
 * Reads a time to compare it with clocks and with times of readings, none of which is beyond what doubles count:
 * one that is beyond is cut off to a double.
 */
export function parseRfc3339(text: string): number | TimeProblem {
  const instantUs = parseInstant(text)
  return typeof instantUs === 'bigint' ? comparableUs(instantUs) : instantUs
}

/** An instant as a double, to be compared with clocks: one that is beyond what doubles count is cut off. */
export function comparableUs(instantUs: InstantUs): number {
  if (typeof instantUs === 'number') return instantUs
  return Number(instantUs - modulo(instantUs, doublesApartUs))
}

/** Days since the epoch. */
function parseDate(text: string): number | TimeProblem {
  const year = digits(text, 0, 4)
  const month = digits(text, 5, 2)
  const day = digits(text, 8, 2)
  const dashes = text.charCodeAt(4) === 45 && text.charCodeAt(7) === 45
  if (year < 0 || month < 0 || day < 0 || !dashes) {
    return { problem: 'must be an RFC 3339 date-time such as 2026-01-31T23:59:59.123456Z' }
  }
  return dayOf(year, month, day)
}

/** Days since the epoch of a date in the calendar. */
export function dayOf(year: number, month: number, day: number): number | TimeProblem {
  if (year === 0) return { problem: 'must have a year from 0001, not 0000' }
  if (month < 1 || month > 12)
    return { problem: `must have a month from 01 to 12, not ${padded(month, 2)}` }
  const length = month === 2 && isLeapYear(year) ? 29 : (monthDays[month - 1] ?? 0)
  if (day < 1 || day > length) {
    const inMonth = `${padded(year, 4)}-${padded(month, 2)}`
    return { problem: `must have a day from 01 to ${length} in ${inMonth}, not ${padded(day, 2)}` }
  }
  return daysFromCivil(year, month, day)
}

/** Seconds since midnight. */
function parseTimeOfDay(text: string): number | TimeProblem {
  const separator = text.charCodeAt(10)
  if (separator !== 84 && separator !== 116) {
    return { problem: 'must have a T between date and time' }
  }
  const hour = digits(text, 11, 2)
  const minute = digits(text, 14, 2)
  const second = digits(text, 17, 2)
  const colons = text.charCodeAt(13) === 58 && text.charCodeAt(16) === 58
  if (hour < 0 || minute < 0 || second < 0 || !colons) {
    return { problem: 'must have a time of day as HH:MM:SS' }
  }
  return secondOfDay(hour, minute, second)
}

/** Seconds since midnight of a time of day. */
export function secondOfDay(hour: number, minute: number, second: number): number | TimeProblem {
  if (hour > 23) return { problem: `must have an hour from 00 to 23, not ${padded(hour, 2)}` }
  if (minute > 59) return { problem: `must have a minute from 00 to 59, not ${padded(minute, 2)}` }
  if (second === 60) return { problem: 'is a leap second, which is not supported' }
  if (second > 59) return { problem: `must have a second from 00 to 59, not ${padded(second, 2)}` }
  return (hour * 60 + minute) * 60 + second
}

function padded(value: number, length: number): string {
  return String(value).padStart(length, '0')
}

/** Seconds ahead of UTC. */
function parseOffset(text: string, at: number): number | TimeProblem {
  const sign = text.charCodeAt(at)
  if ((sign === 90 || sign === 122) && text.length === at + 1) return 0
  if (at === text.length) return { problem: 'has no time zone, such as Z or +01:00' }
  if ((sign !== 43 && sign !== 45) || text.length !== at + 6 || text.charCodeAt(at + 3) !== 58) {
    return { problem: 'must have the time zone Z or ±HH:MM' }
  }
  const hours = digits(text, at + 1, 2)
  const minutes = digits(text, at + 4, 2)
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) {
    return { problem: 'must have the time zone Z or ±HH:MM' }
  }
  return (sign === 45 ? -1 : 1) * (hours * 60 + minutes) * 60
}

/** RFC 3339 in UTC with six decimals, as every answer carries it. */
export function formatUs(instantUs: InstantUs): string {
  if (typeof instantUs === 'bigint' || !Number.isSafeInteger(instantUs)) {
    return formatBeyond(BigInt(instantUs))
  }
  const ms = Math.floor(instantUs / 1000)
  const micros = String(instantUs - ms * 1000).padStart(3, '0')
  return `${new Date(ms).toISOString().slice(0, -1)}${micros}Z`
}

function formatBeyond(instantUs: bigint): string {
  const ms = (instantUs - modulo(instantUs, 1000n)) / 1000n
  const micros = String(instantUs - ms * 1000n).padStart(3, '0')
  return `${new Date(Number(ms)).toISOString().slice(0, -1)}${micros}Z`
}

function modulo(value: bigint, divisor: bigint): bigint {
  return ((value % divisor) + divisor) % divisor
}
