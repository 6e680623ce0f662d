import type { BucketRun } from '../../../bucket-runs.ts'
import { microseconds } from '../statement.ts'

const instant = microseconds('"timestamp"')

/** SQL of the start of the bucket that a reading lies in, in microseconds; the runs have to cover it. */
export function bucketSql(runs: readonly BucketRun[]): string {
  const last = runs.at(-1)
  if (!last) throw new Error('there are no buckets')
  const branches = runs
    .slice(0, -1)
    .map((run) => `WHEN ${instant} < ${run.endUs} THEN ${startSql(run)}`)
  const otherwise = startSql(last)
  return branches.length === 0 ? otherwise : `CASE ${branches.join(' ')} ELSE ${otherwise} END`
}

/** No reading is from before its run, so that division rounds down. */
function startSql({ startUs, widthUs, endUs }: BucketRun): string {
  if (endUs - startUs === widthUs) return `cast(${startUs} AS LONG)`
  // What is counted from the epoch has a shorter form.
  if (startUs % widthUs === 0) return `${instant} / ${widthUs} * ${widthUs}`
  return `(${instant} - (${startUs})) / ${widthUs} * ${widthUs} + (${startUs})`
}
