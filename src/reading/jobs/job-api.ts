import type { Static } from 'typebox'
import { errorCatalogue } from '../../core/error-catalogue.ts'
import { remedyOf } from '../../core/errors.ts'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'
import { type Job, jobStates, keptUs } from './job.ts'

/** What all jobs tell of themselves. */
export const jobMembers = {
  state: { enum: [...jobStates] },
  progress: { ...s.number, minimum: 0, maximum: 1 },
  createdAt: s.dateTime,
  startedAt: s.nullable(s.dateTime),
  finishedAt: s.nullable(s.dateTime),
  expiresAt: s.nullable({ ...s.dateTime, description: 'When it is removed with all it has made.' }),
  failure: s.nullable({
    ...s.record({ error: s.text, message: s.text, remedy: s.text }),
    description: 'Why it has failed.',
  }),
} as const

type JobBody = {
  [Name in keyof typeof jobMembers]: Static<(typeof jobMembers)[Name]>
}

/** What to do about failures of one kind of job. */
export interface FailureRemedies {
  /** Sentences for codes whose own remedy is about something else. */
  readonly byCode: Readonly<Partial<Record<string, string>>>
  /** The operation that goes on with a job. */
  readonly resume: string
}

/** What the answers about all jobs have in common. */
export function jobBody(
  { state, progress, failure, ...job }: Job,
  remedies: FailureRemedies,
): JobBody {
  const { finishedAtUs } = job
  return {
    state,
    progress: state === 'completed' ? 1 : Math.min(1, Math.round(progress * 1e4) / 1e4),
    createdAt: formatUs(job.createdAtUs),
    startedAt: timeOrNull(job.startedAtUs),
    finishedAt: timeOrNull(finishedAtUs),
    expiresAt: timeOrNull(finishedAtUs === undefined ? undefined : finishedAtUs + keptUs),
    failure: failure ? { ...failure, remedy: failureRemedy(failure.error, remedies) } : null,
  }
}

function failureRemedy(code: string, { byCode, resume }: FailureRemedies): string {
  const own = byCode[code]
  if (own !== undefined) return own
  // A failure of an older version may have a code that is not used any more.
  const known = code in errorCatalogue ? (code as keyof typeof errorCatalogue) : 'internal_error'
  return `${remedyOf(known)} Then ${resume} goes on where the job has stopped.`
}

function timeOrNull(timeUs: number | undefined): string | null {
  return timeUs === undefined ? null : formatUs(timeUs)
}
