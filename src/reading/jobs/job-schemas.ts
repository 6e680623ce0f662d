import { dateTime, nullable, number, record, text } from '../../requests/http/schema.ts'
import { jobStates } from './job.ts'

/** What all jobs tell of themselves. */
export const jobMembers = {
  state: { enum: [...jobStates] },
  progress: { ...number, minimum: 0, maximum: 1 },
  createdAt: dateTime,
  startedAt: nullable(dateTime),
  finishedAt: nullable(dateTime),
  expiresAt: nullable({ ...dateTime, description: 'When it is removed with all it has made.' }),
  failure: nullable({
    ...record({ error: text, message: text }),
    description: 'Why it has failed.',
  }),
} as const
