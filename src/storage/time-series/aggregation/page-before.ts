import type { AggregatePage, AggregatePoint, AggregateQuery } from '../aggregate-query.ts'
import {
  bucketCount,
  bucketRuns,
  bucketStartAt,
  bucketStartUs,
  nextBucketUs,
} from '../bucket-runs.ts'
import { assertFillable } from '../fill-limits.ts'
import { chunksBefore } from './chunks.ts'
import { filledPage } from './filled-page.ts'
import { pageOf } from './page.ts'
import { PageRoom } from './page-room.ts'
import type { PointReader, Position } from './point-reader.ts'

/** One page of aggregated points in descending order. @throws DomainError `too_many_points` */
export async function pageBefore(reader: PointReader): Promise<AggregatePage> {
  return reader.query.fill === 'none'
    ? await sparsePageBefore(reader)
    : await filledPageBefore(reader)
}

/** Where the cursor stands among the series that there are now: those of a lower index come next. */
function positionOf({ after, series, buckets }: AggregateQuery): Position | undefined {
  if (!after) return undefined
  const done = series.findIndex(({ key }) => key >= after.series)
  return {
    bucketUs: bucketStartUs(buckets, after.timestampUs),
    series: done === -1 ? series.length : done,
  }
}

/** Points of the buckets that have readings. */
async function sparsePageBefore(reader: PointReader): Promise<AggregatePage> {
  const { startUs, endUs, buckets } = reader.query
  const position = positionOf(reader.query)
  const after = position?.series === 0 ? undefined : position
  const toUs = after ? nextBucketUs(buckets, after.bucketUs) : (position?.bucketUs ?? endUs)
  const range = { fromUs: startUs, toUs: Math.min(endUs, toUs) }
  const points: AggregatePoint[] = []
  const room = new PageRoom(reader.query)
  for (const chunk of chunksBefore(reader, range, room.wanted)) {
    const found = await reader.points(chunk, room, { after, order: 'desc' })
    for (const point of found) points.push(point)
    if (room.isFull) break
  }
  return pageOf(points, room.isFull)
}

/**
 * A point for every series and every bucket. As it is known which those are, they are the last ones of an ascending
 * page that ends before the position.
 */
async function filledPageBefore(reader: PointReader): Promise<AggregatePage> {
  const { query } = reader
  const { startUs, endUs, buckets, series, limit } = query
  if (series.length === 0) return { points: [], next: undefined }
  assertFillable(query)
  const runs = bucketRuns(buckets, startUs, endUs)
  const end = Math.min(placeOf(query), bucketCount(runs) * series.length)
  const positionAt = (place: number): Position => ({
    bucketUs: bucketStartAt(runs, Math.floor(place / series.length)),
    series: place % series.length,
  })
  for (let count = Math.min(limit, end); count > 0; ) {
    const from = end - count
    const after = from === 0 ? undefined : positionAt(from - 1)
    const { points } = await filledPage(reader, after, count)
    if (points.length >= count) return pageOf(points.toReversed(), from > 0)
    // Texts have filled the page before its end.
    count = Math.max(1, Math.min(points.length, count - 1))
  }
  return { points: [], next: undefined }
}

/** How many points of all there are before the cursor. */
function placeOf(query: AggregateQuery): number {
  const position = positionOf(query)
  if (!position) return Number.POSITIVE_INFINITY
  const { startUs, buckets, series } = query
  const before = bucketCount(bucketRuns(buckets, startUs, position.bucketUs))
  return before * series.length + position.series
}
