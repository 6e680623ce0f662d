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
  const figures: readonly [Metric['type'], string, string, () => number][] = [
    ['gauge', 'backup_running', 'One is being made', () => Number(backups.isRunning)],
    ['counter', 'backups_failed_total', 'Not made', () => backups.failures],
    ['gauge', 'backup_last_completed_seconds', 'Unix time', () => backups.lastCompletedAtUs / 1e6],
  ]
  return figures.map(([type, name, help, value]) => ({ type, name, help, value }))
}
