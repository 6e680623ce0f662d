const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

export interface Bucket {
  /** As the API names it. */
  readonly aggregation: string
  /** How long it is, about: days and months differ. */
  readonly ms: number
  readonly name: string
}

/** Lengths that people think in. From half an hour on, streams with very many readings are answered from rollups. */
export const buckets: readonly Bucket[] = [
  { aggregation: '1s', ms: second, name: 'second' },
  { aggregation: '5s', ms: 5 * second, name: '5 s' },
  { aggregation: '15s', ms: 15 * second, name: '15 s' },
  { aggregation: '30s', ms: 30 * second, name: '30 s' },
  { aggregation: 'minutely', ms: minute, name: 'minute' },
  { aggregation: '5m', ms: 5 * minute, name: '5 min' },
  { aggregation: '10m', ms: 10 * minute, name: '10 min' },
  { aggregation: '30m', ms: 30 * minute, name: '30 min' },
  { aggregation: 'hourly', ms: hour, name: 'hour' },
  { aggregation: '3h', ms: 3 * hour, name: '3 h' },
  { aggregation: '6h', ms: 6 * hour, name: '6 h' },
  { aggregation: 'daily', ms: day, name: 'day' },
  { aggregation: 'weekly', ms: 7 * day, name: 'week' },
  { aggregation: 'monthly', ms: 30 * day, name: 'month' },
]

/** Points that one chart shows at most: those of a page of the API would be more. */
const pointsMax = 2000

/** The shortest bucket of which not more than one falls on a pixel; the longest where all are too short. */
export function bucketFor(spanMs: number, widthPx: number): Bucket {
  const countMax = Math.max(50, Math.min(pointsMax, widthPx))
  const [longest] = buckets.slice(-1)
  const chosen = buckets.find(({ ms }) => spanMs / ms <= countMax) ?? longest
  if (chosen === undefined) throw new Error('there are buckets')
  return chosen
}

/** Readings themselves are drawn where there are at most so many. */
export function isFew(readings: number, widthPx: number): boolean {
  return readings <= Math.max(300, widthPx)
}
