import type { AggregatePage, AggregatePoint } from '../aggregate-query.ts'

/** A page of points, which is the last one unless more follow. */
export function pageOf(points: readonly AggregatePoint[], isMore: boolean): AggregatePage {
  const last = points.at(-1)
  if (!last || !isMore) return { points, next: undefined }
  return { points, next: { timestampUs: last.timestampUs, series: last.series } }
}
