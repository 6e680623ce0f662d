import type { AggregatePage, AggregatePoint } from '../aggregate-query.ts'

/** A page of those that were found; one more than its limit means that there is another. */
export function pageOf(points: readonly AggregatePoint[], limit: number): AggregatePage {
  const page = points.slice(0, limit)
  const last = page.at(-1)
  if (!last || points.length <= limit) return { points: page, next: undefined }
  return { points: page, next: { timestampUs: last.timestampUs, series: last.series } }
}
