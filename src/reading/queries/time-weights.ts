import type { Json } from '../../contracts/definitions/problems.ts'
import type { TimeWeights } from '../../storage/time-series/aggregate-query.ts'
import { isDeduplicated, longestHoldUs } from '../../streams/data-streams/deduplication.ts'

export interface AveragedStream {
  readonly id: string
  readonly processing: Json
}

/**
 * What averages of these groups go by (decisions.md#readings-that-are-unchanged). One stream that
 * drops what is unchanged is enough to average its whole group by time, because hours and readings
 * cannot be added up.
 */
export function timeWeights(
  groups: readonly (readonly AveragedStream[])[],
  nowUs: number,
): TimeWeights | undefined {
  const streams = groups
    .filter((group) => group.some(({ processing }) => isDeduplicated(processing)))
    .flat()
  if (streams.length === 0) return undefined
  const holds = streams.map(({ id, processing }) => [id, longestHoldUs(processing)] as const)
  return { holdsUs: new Map(holds), untilUs: nowUs }
}
