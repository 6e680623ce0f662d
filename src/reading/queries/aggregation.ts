import { DomainError, invalidParameter } from '../../core/errors.ts'
import { spellingHint } from '../../core/suggestions.ts'
import type { Buckets } from '../../storage/time-series/aggregate-query.ts'
import { parseZone } from '../../storage/time-series/zones.ts'

const secondUs = 1_000_000

const unitsUs: Readonly<Record<string, number>> = {
  s: secondUs,
  m: 60 * secondUs,
  h: 3_600 * secondUs,
}

/** A year; what is longer has as little to do with durations as months have. */
const daysMax = 366

const names = ['raw', 'window', 'minutely', 'hourly', 'daily', 'weekly', 'monthly']

const message =
  'must be raw, window, minutely, hourly, daily, weekly, monthly, or a duration such as 30s, 15m, 6h or 1d'

/**
 * How time is to be cut (decisions.md#buckets-and-functions); nothing for raw readings. Hours and
 * what is longer follow the clocks of the zone, and so do durations in days; shorter durations are
 * counted from the epoch in UTC.
 *
 * @throws DomainError `invalid_request`, and `unsupported_query` for windows, which are no buckets
 */
export function parseAggregation(text: string, zone: string): Buckets | undefined {
  switch (text) {
    case 'raw':
      return undefined
    case 'minutely':
      return { kind: 'fixed', widthUs: 60 * secondUs }
    case 'hourly':
      return { kind: 'calendar', unit: 'hour', units: 1, zone }
    case 'daily':
      return { kind: 'calendar', unit: 'day', units: 1, zone }
    case 'weekly':
      return { kind: 'calendar', unit: 'week', units: 1, zone }
    case 'monthly':
      return { kind: 'calendar', unit: 'month', units: 1, zone }
    case 'window':
      throw new DomainError('unsupported_query', 'windows cannot be asked for here', {
        details: [{ path: 'aggregation', message: 'windows cannot be asked for here' }],
      })
    default:
      return parseDuration(text, zone)
  }
}

function parseDuration(text: string, zone: string): Buckets {
  const [, digits, unit = ''] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? []
  if (digits === undefined) throw invalidParameter('aggregation', message, aggregationRemedy(text))
  const count = Number(digits)
  const unitUs = unitsUs[unit]
  const days = unitUs === undefined ? count : (count * unitUs) / (86_400 * secondUs)
  if (days > daysMax) throw invalidParameter('aggregation', `must not exceed ${daysMax}d`)
  return unitUs === undefined
    ? { kind: 'calendar', unit: 'day', units: count, zone }
    : { kind: 'fixed', widthUs: count * unitUs }
}

function aggregationRemedy(text: string): string | undefined {
  const spelling = spellingHint(text, names)
  if (spelling !== undefined) return spelling
  return 'Write in aggregation how long a bucket is, such as 15m or hourly; the function stands in fields, such as temperature:max. docs/queries.md lists both.'
}

const zoneRemedy = 'Write tz as Europe/Berlin or UTC: area and city; leave it out for UTC.'

/** @throws DomainError `invalid_request` for what is no name of a zone */
export function zoneParameter(text: string | undefined): string {
  if (text === undefined) return 'UTC'
  const zone = parseZone(text)
  if (zone !== undefined) return zone
  throw invalidParameter(
    'tz',
    'must be a name of the IANA time zone database, as Europe/Berlin',
    zoneRemedy,
  )
}
