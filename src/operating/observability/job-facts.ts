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
  const figures: readonly [Metric['type'], string, string, () => number][] = [
    ['gauge', 'exports_running', 'CSV and NDJSON answers under way', () => exports.running],
    ['counter', 'exports_refused_total', 'Exports without a place', () => exports.refused],
    ['counter', 'export_chunks_total', 'Chunks read for exports', () => exports.chunks],
    ['gauge', 'export_jobs_running', 'Exports into files', () => exportJobs.running],
    ['gauge', 'export_jobs_waiting', 'For their turn', () => exportJobs.waiting],
    ['counter', 'export_jobs_failed_total', 'Since the start', () => exportJobs.failed],
    ['gauge', 'import_jobs_running', 'Files into streams', () => importJobs.running],
    ['gauge', 'import_jobs_waiting', 'For their turn', () => importJobs.waiting],
    ['counter', 'import_jobs_failed_total', 'Since the start', () => importJobs.failed],
    ['gauge', 'import_files_arriving', 'On their way to the disk', () => spool.arriving],
  ]
  return figures.map(([type, name, help, value]) => ({ type, name, help, value }))
}
