import { bucketStartUs, nextBucketUs, usualWidthUs } from '../bucket-runs.ts'
import type { PointReader, Range } from './point-reader.ts'

/** Stretches of one chunk. A stream may have hundreds, and mostly the first few fill the page. */
const stretchesPerChunk = 48

/** Points that one chunk may have at most: they are in memory until it is read. */
const pointsPerChunk = 1_000_000

/** How much longer each chunk is than the one before: where readings are rare, few chunks do. */
const growth = 8

/** What chunks depend on. */
type Chunked = Pick<PointReader, 'query' | 'stretches'>

/**
 * Cuts a range into chunks that are read one by one, in ascending time: each ends where a bucket ends, or
 * with the range. The first is as long as `points` points take when every bucket has some.
 */
export function* chunksAfter(
  { query, stretches }: Chunked,
  range: Range,
  points: number,
): Generator<Range> {
  const { buckets } = query
  const toUs = Math.min(range.toUs, stretches.at(-1)?.toUs ?? 0)
  let spanUs = firstSpanUs(query, points)
  for (let atUs = range.fromUs; atUs < toUs; spanUs = longerSpanUs(query, spanUs)) {
    const ahead = stretches.filter((stretch) => stretch.toUs > atUs && stretch.fromUs < toUs)
    const [next] = ahead
    if (!next) return
    const fromUs = Math.max(atUs, next.fromUs)
    const beyond = ahead.slice(stretchesPerChunk).find((stretch) => stretch.fromUs > fromUs)
    const lastUs = Math.min(fromUs + spanUs, beyond ? beyond.fromUs - 1 : toUs, toUs - 1)
    // The bucket that the limit falls into is left for the next chunk, unless it is the only one.
    const cutUs = lastUs === toUs - 1 ? toUs : bucketStartUs(buckets, lastUs)
    const endUs = cutUs > fromUs ? cutUs : Math.min(toUs, nextBucketUs(buckets, fromUs))
    yield { fromUs, toUs: endUs }
    atUs = endUs
  }
}

/**
 * Cuts a range into chunks in descending time: each begins where a bucket begins, or with the
 * range.
 */
export function* chunksBefore(
  { query, stretches }: Chunked,
  { fromUs, toUs }: Range,
  points: number,
): Generator<Range> {
  const { buckets } = query
  let spanUs = firstSpanUs(query, points)
  for (let atUs = toUs; atUs > fromUs; spanUs = longerSpanUs(query, spanUs)) {
    const behind = stretches.filter((stretch) => stretch.toUs > fromUs && stretch.fromUs < atUs)
    const last = behind.at(-1)
    if (!last) return
    const endUs = Math.min(atUs, last.toUs)
    const beyond = behind.slice(0, -stretchesPerChunk).findLast((stretch) => stretch.toUs < endUs)
    const firstUs = Math.max(endUs - spanUs, beyond ? beyond.toUs : fromUs, fromUs)
    // The start of a bucket, so that none is cut; in the last resort of the one at the end.
    const cutUs = firstUs === fromUs ? fromUs : nextBucketUs(buckets, firstUs)
    const startUs = cutUs < endUs ? cutUs : Math.max(fromUs, bucketStartUs(buckets, endUs - 1))
    yield { fromUs: startUs, toUs: endUs }
    atUs = startUs
  }
}

function firstSpanUs({ buckets, series }: PointReader['query'], points: number): number {
  return usualWidthUs(buckets) * (Math.ceil(points / series.length) + 1)
}

function longerSpanUs({ buckets, series }: PointReader['query'], spanUs: number): number {
  const bucketsMax = Math.max(1, Math.floor(pointsPerChunk / series.length))
  return Math.min(spanUs * growth, usualWidthUs(buckets) * bucketsMax)
}
