import type { Buckets } from '../aggregate-query.ts'
import type { Range } from '../aggregation/point-reader.ts'
import { bucketRuns } from '../bucket-runs.ts'
import { ceilTo, floorTo, gapsOf, united, type WindowRange } from '../windows/window-starts.ts'
import { rollupWidthUs } from './rollup-width.ts'

/** A query reads so many stretches of rows at most, the longest ones: between them it reads readings. */
const stretchesMax = 16

/** A stream that is rolled up. */
export interface RolledUpStream {
  /** Ranges of which rows say nothing: in order, and disjoint. */
  readonly marked: readonly WindowRange[]
  /** The time from which on everything is kept: what is older may be gone in part. */
  readonly keptFromUs: number
}

/**
 * Where rows of rollups say what the readings of all these streams amount to, and no bucket cuts a row: in order,
 * and disjoint.
 */
export function coveredRanges(
  streams: readonly RolledUpStream[],
  buckets: Buckets,
  { fromUs, toUs }: Range,
): readonly Range[] {
  if (streams.length === 0) return []
  const keptFromUs = streams.reduce((latest, stream) => Math.max(latest, stream.keptFromUs), 0)
  const within = {
    fromUs: ceilTo(Math.max(fromUs, keptFromUs), rollupWidthUs),
    toUs: floorTo(toUs, rollupWidthUs),
  }
  let ranges = alignedRanges(buckets, within)
  for (const { marked } of streams) {
    ranges = ranges.flatMap((range) => gapsOf(range, marked))
  }
  const longest = ranges.toSorted(
    (left, right) => right.toUs - right.fromUs - (left.toUs - left.fromUs),
  )
  return longest.slice(0, stretchesMax).sort((left, right) => left.fromUs - right.fromUs)
}

/** Where buckets begin and end with rows. */
function alignedRanges(buckets: Buckets, { fromUs, toUs }: Range): readonly Range[] {
  const aligned = bucketRuns(buckets, fromUs, toUs)
    .filter(({ startUs, widthUs }) => isAligned(startUs) && isAligned(widthUs))
    .map((run) => ({ fromUs: Math.max(run.startUs, fromUs), toUs: Math.min(run.endUs, toUs) }))
    .filter((range) => range.fromUs < range.toUs)
  return united(aligned)
}

function isAligned(us: number): boolean {
  return us % rollupWidthUs === 0
}
