import { DomainError } from '../../core/errors.ts'
import type { AggregateQuery } from './aggregate-query.ts'
import { bucketCount, bucketRuns } from './bucket-runs.ts'

/** Points of a filled query over all its pages. Nobody reads more, and a slip is easily made. */
const pointsMax = 1_000_000

/** Years of a filled query: few enough that the changes of clocks of a zone are few. */
const yearsMax = 100
const yearUs = 366 * 86_400_000_000

/**
 * A filled query has a point for each series and bucket, whether there are readings or not.
 *
 * @throws DomainError `too_many_points`
 */
export function assertFillable({ startUs, endUs, buckets, series }: AggregateQuery): void {
  if (endUs - startUs > yearsMax * yearUs) {
    throw new DomainError('too_many_points', `fill takes at most ${yearsMax} years at once`)
  }
  const points = bucketCount(bucketRuns(buckets, startUs, endUs)) * series.length
  if (points <= pointsMax) return
  throw new DomainError(
    'too_many_points',
    `that would be ${points} points, and fill makes at most ${pointsMax}: ask for less time or longer buckets`,
  )
}
