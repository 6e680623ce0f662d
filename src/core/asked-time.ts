import { durationUs } from './duration.ts'
import { type InstantUs, narrowed, parseInstant, type TimeProblem } from './time.ts'

/**
 * Numbers below, but for 0, are none: 2026 and 20260131 are meant as a year and a day, and as seconds they would be a
 * time before nearly all readings, which is no answer to a query and the end of all readings for a removal.
 */
const secondsStart = 100_000_000n

/**
 * Numbers below are seconds since 1970, those below the next bound milliseconds, and all others microseconds: each
 * unit reaches from March 1973 to the year 5138, and no two of them overlap there.
 */
const secondsEnd = 100_000_000_000n
const millisecondsEnd = 100_000_000_000_000n
const microsecondsEnd = 253_402_300_800_000_000n

/** Digits of a number, with those behind the point that microseconds have. */
const numberPattern = /^(\d{1,20})(?:\.(\d{1,9}))?$/

const relativePattern = /^(?:now)?-(.*)$/

/** Whether a text counts from the present: `now`, `-24h` or `now-24h`. */
export function isRelativeTime(text: string): boolean {
  return text === 'now' || relativePattern.test(text)
}

/**
 * A time as people ask for one: RFC 3339, `now`, a duration before now (`-24h`), or a number since 1970, in seconds,
 * milliseconds or microseconds (docs/queries.md#times).
 */
export function parseAskedTime(text: string, nowUs: number): InstantUs | TimeProblem {
  if (text === 'now') return nowUs
  const [, ago] = relativePattern.exec(text) ?? []
  if (ago !== undefined) {
    const us = durationUs(ago)
    return us === undefined
      ? { problem: 'a time before now is a minus and a duration, such as -30s, -15m, -24h or -7d' }
      : Math.max(0, nowUs - us)
  }
  const [, whole, fraction = ''] = numberPattern.exec(text) ?? []
  return whole === undefined ? parseInstant(text) : epochInstant(BigInt(whole), fraction)
}

function epochInstant(count: bigint, fraction: string): InstantUs | TimeProblem {
  if (count > 0n && count < secondsStart) {
    return { problem: 'a number below 100000000 is too small for seconds since 1970' }
  }
  if (count >= microsecondsEnd) {
    return {
      problem: 'a number counts seconds, milliseconds or microseconds since 1970',
    }
  }
  const places = placesOf(count)
  const parts = BigInt(fraction.padEnd(places, '0').slice(0, places) || '0')
  return narrowed(count * 10n ** BigInt(places) + parts)
}

/** Decimal places of the unit of a number that a microsecond is behind. */
function placesOf(count: bigint): number {
  if (count < secondsEnd) return 6
  return count < millisecondsEnd ? 3 : 0
}
