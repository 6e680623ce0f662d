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
  const shown: readonly [string, string, () => number][] = [
    ['backtests_open', 'Running, or waiting', () => figures.backtests],
    ['alert_rule_streams_pending', 'To be compared', () => figures.comparisons],
  ]
  return shown.map(([name, help, value]) => ({ type: 'gauge', name, help, value }))
}
