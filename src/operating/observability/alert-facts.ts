import { type MetricName, metricHelp } from './metric-help.ts'
import type { Metric } from './metrics.ts'

/** What tells of alerts. */
export interface MeasuredAlerts {
  readonly figures: {
    /** Backtests that run or wait for their turn. */
    readonly backtests: number
    /** Streams that rules of fleets have to be compared for, when it was last asked. */
    readonly comparisons: number
  }
  /** Asks anew. */
  count(): Promise<void>
}

/** The figures of alerts. */
export function alertMetrics({ figures }: MeasuredAlerts): readonly Metric[] {
  const shown: readonly [MetricName, () => number][] = [
    ['backtests_open', () => figures.backtests],
    ['alert_rule_streams_pending', () => figures.comparisons],
  ]
  return shown.map(([name, value]) => ({ type: 'gauge', name, help: metricHelp[name], value }))
}
