import type { AggregatePage, AggregatePoint } from '../aggregate-query.ts'
import { bucketRuns, bucketStarts, nextBucketUs } from '../bucket-runs.ts'
import { fillGaps } from '../fill.ts'
import { assertFillable } from '../fill-limits.ts'
import { chunksAfter } from './chunks.ts'
import { findNeighbours } from './neighbours.ts'
import { pageOf } from './page.ts'
import { PageRoom, textsOfPoints } from './page-room.ts'
import type { PointReader, Position, Range } from './point-reader.ts'

/** A point for every series and every bucket that touches the range. */
export async function filledPage(
  reader: PointReader,
  after: Position | undefined,
  pointsMax = reader.query.limit,
): Promise<AggregatePage> {
  const { query } = reader
  if (query.series.length === 0) return { points: [], next: undefined }
  assertFillable(query)
  const page = new PageRoom({ ...query, limit: pointsMax })
  // Points that have readings bring texts along, of which no more are to be read than fit in; all
  // of them are counted.
  const limit = page.wanted + 2 * query.series.length
  const room = new PageRoom({ ...query, limit, fields: [] })
  const points: AggregatePoint[] = []
  for (const block of blocksAfter(reader, after, page.wanted)) {
    for (const point of await filledBlock(reader, block, room)) points.push(point)
    if (room.isFull) break
  }
  const count = page.take(textsOfPoints(points, query.fields))
  return pageOf(points.slice(0, count), page.isFull || room.isFull)
}

/** Buckets of a page in which the same series are wanted. */
interface Block {
  /** Where the buckets begin. */
  readonly starts: readonly number[]
  /** Where in a bucket it begins; only one of a single bucket begins behind its first series. */
  readonly after: Position | undefined
}

/** What is left of the bucket of a position, and those that follow, for so many points. */
function blocksAfter(
  { query: { startUs, endUs, buckets, series } }: PointReader,
  after: Position | undefined,
  points: number,
): readonly Block[] {
  const isBucketDone = after !== undefined && after.series === series.length - 1
  const resumeUs = isBucketDone ? nextBucketUs(buckets, after.bucketUs) : (after?.bucketUs ?? 0)
  const runs = bucketRuns(buckets, Math.max(startUs, resumeUs), endUs)
  const isCut = after !== undefined && !isBucketDone && after.series >= 0
  const starts = bucketStarts(runs, Math.ceil(points / series.length) + (isCut ? 1 : 0))
  const blocks = isCut
    ? [
        { starts: starts.slice(0, 1), after },
        { starts: starts.slice(1), after: undefined },
      ]
    : [{ starts, after: undefined }]
  return blocks.filter((block) => block.starts.length > 0)
}

/** The points of a block in order; of one that there is no room for, the first ones. */
async function filledBlock(
  reader: PointReader,
  block: Block,
  room: PageRoom,
): Promise<readonly AggregatePoint[]> {
  const { fields, query } = reader
  const { grid, range } = await readGrid(reader, block, room)
  if (grid.every((points) => points.length === 0)) return []
  const neighbours = await findNeighbours(reader, grid, range)
  const filled = grid.map((points) => fillGaps(points, { fields, fill: query.fill, neighbours }))
  return block.starts.flatMap((_, bucket) => filled.flatMap((points) => points[bucket] ?? []))
}

interface Grid {
  /** The points of each series, by its index; those of buckets without readings are empty. */
  readonly grid: readonly (readonly AggregatePoint[])[]
  readonly range: Range
}

async function readGrid(reader: PointReader, block: Block, room: PageRoom): Promise<Grid> {
  const { startUs, endUs, buckets, series } = reader.query
  const { starts, after } = block
  const found: AggregatePoint[] = []
  const rangeOf = (some: readonly number[]) => ({
    fromUs: Math.max(startUs, some[0] ?? 0),
    toUs: Math.min(endUs, nextBucketUs(buckets, some.at(-1) ?? 0)),
  })
  for (const chunk of chunksAfter(reader, rangeOf(starts), starts.length * series.length)) {
    for (const point of await reader.points(chunk, room, { after })) found.push(point)
    if (room.isFull) break
  }
  const indices = new Map(series.map(({ key }, index) => [key, index]))
  const places = new Map(starts.map((bucketUs, index) => [bucketUs, index]))
  const placeOf = ({ timestampUs, series: key }: AggregatePoint) => ({
    bucket: places.get(timestampUs) as number,
    series: indices.get(key) as number,
  })
  const last = found.at(-1)
  const { bucketsTo, seriesTo } = room.isFull
    ? wholeUpTo(last && placeOf(last), series.length)
    : { bucketsTo: starts.length, seriesTo: series.length }
  const known = starts.slice(0, bucketsTo)
  const seriesFrom = (after?.series ?? -1) + 1
  const grid = series.map(({ key }, index) =>
    (index >= seriesFrom && index < seriesTo ? known : []).map(
      (timestampUs): AggregatePoint => ({ timestampUs, series: key, count: 0, values: {} }),
    ),
  )
  for (const point of found) {
    const at = placeOf(point)
    const line = grid[at.series] as AggregatePoint[]
    if (at.bucket < line.length) line[at.bucket] = point
  }
  return { grid, range: rangeOf(known) }
}

/**
 * Which buckets and series are known up to a point behind which there are others. Gaps are filled out of whole
 * buckets; of a single one, any series do.
 */
function wholeUpTo(
  last: { readonly bucket: number; readonly series: number } | undefined,
  series: number,
): { readonly bucketsTo: number; readonly seriesTo: number } {
  if (last === undefined) return { bucketsTo: 1, seriesTo: 0 }
  if (last.series === series - 1) return { bucketsTo: last.bucket + 1, seriesTo: series }
  if (last.bucket > 0) return { bucketsTo: last.bucket, seriesTo: series }
  return { bucketsTo: 1, seriesTo: last.series + 1 }
}
