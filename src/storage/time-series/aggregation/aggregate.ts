import type { AggregatePage, AggregatePoint, AggregateQuery } from '../aggregate-query.ts'
import { bucketStartUs, nextBucketUs } from '../bucket-runs.ts'
import { chunksAfter } from './chunks.ts'
import { filledPage } from './filled-page.ts'
import { pageOf } from './page.ts'
import { pageBefore } from './page-before.ts'
import { PageRoom } from './page-room.ts'
import type { PointReader, Position } from './point-reader.ts'

/** One page of aggregated points. @throws DomainError `too_many_points` */
export async function aggregatePage(reader: PointReader): Promise<AggregatePage> {
  if (reader.query.order === 'desc') return await pageBefore(reader)
  const after = positionOf(reader.query)
  return reader.query.fill === 'none'
    ? await sparsePage(reader, after)
    : await filledPage(reader, after)
}

/** Where the cursor stands among the series that there are now. */
function positionOf({ after, series, buckets }: AggregateQuery): Position | undefined {
  if (!after) return undefined
  const done = series.findLastIndex(({ key }) => key <= after.series)
  return { bucketUs: bucketStartUs(buckets, after.timestampUs), series: done }
}

/** Points of the buckets that have readings. */
async function sparsePage(
  reader: PointReader,
  after: Position | undefined,
): Promise<AggregatePage> {
  const { startUs, endUs, buckets, series } = reader.query
  const isBucketDone = after !== undefined && after.series === series.length - 1
  const position = isBucketDone ? undefined : after
  const fromUs = isBucketDone ? nextBucketUs(buckets, after.bucketUs) : (after?.bucketUs ?? 0)
  const range = { fromUs: Math.max(startUs, fromUs), toUs: endUs }
  const points: AggregatePoint[] = []
  const room = new PageRoom(reader.query)
  for (const chunk of chunksAfter(reader, range, room.wanted)) {
    for (const point of await reader.points(chunk, room, { after: position })) points.push(point)
    if (room.isFull) break
  }
  return pageOf(points, room.isFull)
}
