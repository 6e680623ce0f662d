import { type MetricName, metricHelp } from './metric-help.ts'
import type { Metric } from './metrics.ts'

/** What tells of jobs of one kind. */
interface MeasuredQueue {
  readonly running: number
  readonly waiting: number
  readonly failed: number
}

export interface MeasuredJobs {
  /** Answers of all readings of a stream, while somebody takes them. */
  readonly exports: { readonly running: number; readonly refused: number; readonly chunks: number }
  readonly exportJobs: MeasuredQueue
  readonly importJobs: MeasuredQueue
  readonly spool: { readonly arriving: number }
}

/** The figures of exports, those that are answers among them, and of imports. */
export function jobMetrics(jobs: MeasuredJobs): readonly Metric[] {
  const { exports, exportJobs, importJobs, spool } = jobs
  const figures: readonly [Metric['type'], MetricName, () => number][] = [
    ['gauge', 'exports_running', () => exports.running],
    ['counter', 'exports_refused_total', () => exports.refused],
    ['counter', 'export_chunks_total', () => exports.chunks],
    ['gauge', 'export_jobs_running', () => exportJobs.running],
    ['gauge', 'export_jobs_waiting', () => exportJobs.waiting],
    ['counter', 'export_jobs_failed_total', () => exportJobs.failed],
    ['gauge', 'import_jobs_running', () => importJobs.running],
    ['gauge', 'import_jobs_waiting', () => importJobs.waiting],
    ['counter', 'import_jobs_failed_total', () => importJobs.failed],
    ['gauge', 'import_files_arriving', () => spool.arriving],
  ]
  return figures.map(([type, name, value]) => ({ type, name, help: metricHelp[name], value }))
}
