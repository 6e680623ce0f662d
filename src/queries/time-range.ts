import { invalidParameter } from '../core/errors.ts'
import { formatUs, parseRfc3339 } from '../core/time.ts'

/** [startUs, endUs) in microseconds since the epoch. */
export interface TimeRange {
  readonly startUs: number
  readonly endUs: number
}

/** End of time for a query without an end: the last year that RFC 3339 can write. */
const endOfTimeUs = 253_402_300_800_000_000

/**
 * A range without bounds is all of time: nothing is stored from before 1970.
 *
 * @throws DomainError `invalid_request`
 */
export function timeRange(start: string | undefined, end: string | undefined): TimeRange {
  const startUs = instant('start', start) ?? 0
  const endUs = instant('end', end) ?? endOfTimeUs
  if (endUs < startUs) throw invalidParameter('end', 'must not be before start')
  return { startUs, endUs }
}

function instant(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const parsed = parseRfc3339(text)
  if (typeof parsed === 'number') return Math.max(0, parsed)
  throw invalidParameter(name, `must be an RFC 3339 date-time: ${parsed.problem}`)
}

/** The range as answers tell it. */
export function rangeBody({ startUs, endUs }: TimeRange) {
  return { start: formatUs(startUs), end: endUs === endOfTimeUs ? null : formatUs(endUs) }
}
