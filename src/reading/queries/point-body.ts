import { formatUs } from '../../core/time.ts'
import type { AggregatePoint } from '../../storage/time-series/aggregate-query.ts'

/** An aggregated point in an answer, with what tells its series. */
export function aggregateBody(
  { timestampUs, values, count }: AggregatePoint,
  series: Readonly<Record<string, unknown>> = {},
): object {
  return { timestamp: formatUs(timestampUs), ...series, ...values, count }
}
