import type { Metric } from './metrics.ts'

/** What tells of jobs of one kind. */
interface MeasuredQueue {
  readonly running: number
  readonly waiting: number
  readonly failed: number
}

export interface MeasuredJobs {
  readonly exportJobs: MeasuredQueue
  readonly importJobs: MeasuredQueue
  readonly spool: { readonly arriving: number }
}

/** The figures of exports and imports that go on in the background. */
export function jobMetrics({ exportJobs, importJobs, spool }: MeasuredJobs): readonly Metric[] {
  const figures: readonly [Metric['type'], string, string, () => number][] = [
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
