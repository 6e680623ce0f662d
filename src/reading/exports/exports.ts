import { BackgroundJobs, type BackgroundJobsNeeds } from '../jobs/background-jobs.ts'
import type { ExportJob } from './export-job.ts'
import { ExportRun, type ExportRunNeeds } from './export-run.ts'

/** Jobs that run at once: each has a thread, and asks the store for one chunk at a time. */
const runningMax = 2

export type ExportsNeeds = ExportRunNeeds &
  Pick<BackgroundJobsNeeds<ExportJob>, 'clock' | 'onFailure'>

export type Exports = BackgroundJobs<ExportJob>

/** Writes stored readings into files, in the background: see docs/export-import.md. */
export function openExports(needs: ExportsNeeds): Exports {
  return new BackgroundJobs<ExportJob>({
    ...needs,
    atOnceMax: runningMax,
    open: (job, signal) => new ExportRun(needs, job, signal),
  })
}
