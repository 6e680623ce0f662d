import type { AggregatePage, AggregatePoint } from '../aggregate-query.ts'
import { bucketRuns, bucketStarts, nextBucketUs } from '../bucket-runs.ts'
import { fillGaps } from '../fill.ts'
import { assertFillable } from '../fill-limits.ts'
import { chunksAfter } from './chunks.ts'
import { findNeighbours } from './neighbours.ts'
import { pageOf } from './page.ts'
import type { PointReader, Position, Range } from './point-reader.ts'

/** A point for every series and every bucket that touches the range. */
export async function filledPage(
  reader: PointReader,
  after: Position | undefined,
): Promise<AggregatePage> {
  const { startUs, endUs, buckets, series, limit } = reader.query
  if (series.length === 0) return { points: [], next: undefined }
  assertFillable(reader.query)
  const isBucketDone = after !== undefined && after.series === series.length - 1
  const resumeUs = isBucketDone ? nextBucketUs(buckets, after.bucketUs) : (after?.bucketUs ?? 0)
  const skipped = after === undefined || isBucketDone ? 0 : after.series + 1
  const runs = bucketRuns(buckets, Math.max(startUs, resumeUs), endUs)
  // One bucket more: for what was skipped of the first, and for what comes after the page.
  const starts = bucketStarts(runs, Math.ceil((limit + 1) / series.length) + 1)
  const [firstUs] = starts
  if (firstUs === undefined) return { points: [], next: undefined }
  const lastUs = starts.at(-1) as number
  const range = {
    fromUs: Math.max(startUs, firstUs),
    toUs: Math.min(endUs, nextBucketUs(buckets, lastUs)),
  }
  const grid = await readGrid(reader, starts, range)
  const neighbours = await findNeighbours(reader, grid, range)
  const { fields, query } = reader
  const filled = grid.map((points) => fillGaps(points, { fields, fill: query.fill, neighbours }))
  const inOrder = starts.flatMap((_, bucket) =>
    filled.map((points) => points[bucket] as AggregatePoint),
  )
  return pageOf(inOrder.slice(skipped), limit)
}

/** The points of each series, by its index; those of buckets without readings are empty. */
async function readGrid(
  reader: PointReader,
  starts: readonly number[],
  range: Range,
): Promise<AggregatePoint[][]> {
  const { series } = reader.query
  const indices = new Map(series.map(({ key }, index) => [key, index]))
  const buckets = new Map(starts.map((startUs, index) => [startUs, index]))
  const grid = series.map(({ key }) =>
    starts.map(
      (timestampUs): AggregatePoint => ({ timestampUs, series: key, count: 0, values: {} }),
    ),
  )
  const all = starts.length * series.length
  for (const chunk of chunksAfter(reader, range, all)) {
    for (const point of await reader.points(chunk, all)) {
      const line = grid[indices.get(point.series) as number] as AggregatePoint[]
      line[buckets.get(point.timestampUs) as number] = point
    }
  }
  return grid
}
