import type { BucketRun } from '../../bucket-runs.ts'

/**
 * SQL of the start of the bucket that an instant lies in, both in microseconds since the epoch. The
 * runs have to cover all instants that it is asked about.
 */
export function bucketSql(runs: readonly BucketRun[], instant: string): string {
  return byRun(runs, instant, (run) => startSql(run, instant))
}

/** SQL of the end of the bucket that an instant lies in. */
export function bucketEndSql(runs: readonly BucketRun[], instant: string): string {
  return byRun(runs, instant, (run) => `${startSql(run, instant)} + ${run.widthUs}`)
}

function byRun(
  runs: readonly BucketRun[],
  instant: string,
  sqlOf: (run: BucketRun) => string,
): string {
  const last = runs.at(-1)
  if (!last) throw new Error('there are no buckets')
  const branches = runs
    .slice(0, -1)
    .map((run) => `WHEN ${instant} < ${run.endUs} THEN ${sqlOf(run)}`)
  const otherwise = sqlOf(last)
  return branches.length === 0 ? otherwise : `CASE ${branches.join(' ')} ELSE ${otherwise} END`
}

function startSql({ startUs, widthUs, endUs }: BucketRun, instant: string): string {
  if (endUs - startUs === widthUs) return `${startUs}::BIGINT`
  // What is counted from the epoch has a shorter form.
  if (startUs % widthUs === 0) return `${instant} // ${widthUs} * ${widthUs}`
  return `(${instant} - (${startUs})) // ${widthUs} * ${widthUs} + (${startUs})`
}
