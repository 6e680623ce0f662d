import { type MetricName, metricHelp } from './metric-help.ts'
import type { Metric } from './metrics.ts'

/** What tells of the backups since the start. */
export interface MeasuredBackups {
  readonly isRunning: boolean
  readonly failures: number
  /** 0: none was completed. */
  readonly lastCompletedAtUs: number
}

/** The figures of backups. */
export function backupMetrics(backups: MeasuredBackups): readonly Metric[] {
  const figures: readonly [Metric['type'], MetricName, () => number][] = [
    ['gauge', 'backup_running', () => Number(backups.isRunning)],
    ['counter', 'backups_failed_total', () => backups.failures],
    ['gauge', 'backup_last_completed_seconds', () => backups.lastCompletedAtUs / 1e6],
  ]
  return figures.map(([type, name, value]) => ({ type, name, help: metricHelp[name], value }))
}
