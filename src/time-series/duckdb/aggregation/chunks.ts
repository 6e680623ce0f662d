import { bucketStartUs, nextBucketUs, usualWidthUs } from '../../bucket-runs.ts'
import { type ReadingsTable, startOfMonthUs } from '../catalog.ts'
import type { Chunk } from './rows.ts'
import type { Selection } from './selection.ts'

/** Tables of one statement. A stream may have hundreds, and mostly the first few fill the page. */
const tablesPerChunk = 48

/** Points that one statement may make at most: they are in memory until it ends. */
const pointsPerChunk = 1_000_000

/** How much longer each chunk is than the one before: where readings are rare, few statements do. */
const growth = 8

export interface Range {
  readonly fromUs: number
  readonly toUs: number
}

/**
 * Cuts a range into chunks, in ascending time: each ends where a bucket ends, or with the range. The
 * first is as long as `points` points take when every bucket has some.
 */
export function* chunksAfter(selection: Selection, range: Range, points: number): Generator<Chunk> {
  const { buckets } = selection.query
  const lastTable = selection.tables.at(-1)
  const toUs = Math.min(range.toUs, lastTable ? endOf(lastTable) : 0)
  let spanUs = firstSpanUs(selection, points)
  for (let atUs = range.fromUs; atUs < toUs; spanUs = longerSpanUs(selection, spanUs)) {
    const tables = selection.tables.filter((table) => endOf(table) > atUs && startOf(table) < toUs)
    const [next] = tables
    if (!next) return
    const startUs = Math.max(atUs, startOf(next))
    const beyond = tables.slice(tablesPerChunk).find((table) => startOf(table) > startUs)
    const lastUs = Math.min(startUs + spanUs, beyond ? startOf(beyond) - 1 : toUs, toUs - 1)
    // The bucket that the limit falls into is left for the next chunk, unless it is the only one.
    const cutUs = lastUs === toUs - 1 ? toUs : bucketStartUs(buckets, lastUs)
    const endUs = cutUs > startUs ? cutUs : Math.min(toUs, nextBucketUs(buckets, startUs))
    yield {
      fromUs: startUs,
      toUs: endUs,
      tables: tables.filter((table) => startOf(table) < endUs),
    }
    atUs = endUs
  }
}

/** The same in descending time: each chunk begins where a bucket begins, or with the range. */
export function* chunksBefore(
  selection: Selection,
  { fromUs, toUs }: Range,
  points: number,
): Generator<Chunk> {
  const { buckets } = selection.query
  let spanUs = firstSpanUs(selection, points)
  for (let atUs = toUs; atUs > fromUs; spanUs = longerSpanUs(selection, spanUs)) {
    const tables = selection.tables.filter(
      (table) => endOf(table) > fromUs && startOf(table) < atUs,
    )
    const last = tables.at(-1)
    if (!last) return
    const endUs = Math.min(atUs, endOf(last))
    const beyond = tables.slice(0, -tablesPerChunk).findLast((table) => endOf(table) < endUs)
    const firstUs = Math.max(endUs - spanUs, beyond ? endOf(beyond) : fromUs, fromUs)
    // The start of a bucket, so that none is cut; in the last resort of the one at the end.
    const cutUs = firstUs === fromUs ? fromUs : nextBucketUs(buckets, firstUs)
    const startUs = cutUs < endUs ? cutUs : Math.max(fromUs, bucketStartUs(buckets, endUs - 1))
    yield {
      fromUs: startUs,
      toUs: endUs,
      tables: tables.filter((table) => endOf(table) > startUs && startOf(table) < endUs),
    }
    atUs = startUs
  }
}

function firstSpanUs({ query }: Selection, points: number): number {
  return usualWidthUs(query.buckets) * (Math.ceil(points / query.series.length) + 1)
}

function longerSpanUs({ query }: Selection, spanUs: number): number {
  const bucketsMax = Math.max(1, Math.floor(pointsPerChunk / query.series.length))
  return Math.min(spanUs * growth, usualWidthUs(query.buckets) * bucketsMax)
}

function startOf({ month }: ReadingsTable): number {
  return startOfMonthUs(month)
}

function endOf({ month }: ReadingsTable): number {
  return startOfMonthUs(month + 1)
}
