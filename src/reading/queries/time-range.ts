import { invalidParameter } from '../../core/errors.ts'
import { formatUs, type InstantUs, parseInstant } from '../../core/time.ts'

/** [startUs, endUs) in microseconds since the epoch. */
export interface TimeRange {
  readonly startUs: number
  readonly endUs: number
}

/** End of time for a query without an end: the last year that RFC 3339 can write. */
const endOfTimeUs = 253_402_300_800_000_000

/**
 * A range without bounds is all of time: nothing is stored from before 1970. A bound is a double, which is next to it
 * where no reading can be (before 1970, after 2255), so that the same readings are in the range.
 *
 * @throws DomainError `invalid_request`
 */
export function timeRange(start: string | undefined, end: string | undefined): TimeRange {
  const [startsAt, endsAt] = boundsOf(start, end)
  return { startUs: Number(startsAt), endUs: Number(endsAt) }
}

interface Bounds {
  readonly start?: string | undefined
  readonly end?: string | undefined
}

/** The range as answers tell it: by the very instants that were asked for. */
export function rangeBody({ start, end }: Bounds) {
  const [startsAt, endsAt] = boundsOf(start, end)
  return { start: formatUs(startsAt), end: endsAt === endOfTimeUs ? null : formatUs(endsAt) }
}

function boundsOf(
  start: string | undefined,
  end: string | undefined,
): readonly [InstantUs, InstantUs] {
  const startsAt = instant('start', start) ?? 0
  const endsAt = instant('end', end) ?? endOfTimeUs
  if (endsAt < startsAt) throw invalidParameter('end', 'must not be before start')
  return [startsAt, endsAt]
}

function instant(name: string, text: string | undefined): InstantUs | undefined {
  if (text === undefined) return undefined
  const parsed = parseInstant(text)
  if (typeof parsed === 'object') {
    throw invalidParameter(name, `must be an RFC 3339 date-time: ${parsed.problem}`)
  }
  return parsed < 0 ? 0 : parsed
}
