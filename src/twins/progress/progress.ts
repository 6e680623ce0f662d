import { type RawBuilder, sql } from 'kysely'
import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import type { failureSchema, progressSchema } from './progress-api.ts'

/** The status that asset streams, vaults and attachments begin in. */
export const receivedStatus = 'SERVICE_RECEIVED'

/** Steps that are kept of one resource; beyond them the newest takes the place of the one before. */
const stepsMax = 1_000

/** A step as it is stored: its status, and the microseconds at which it was reached. */
type StoredStep = readonly [string, number]

/** Progress as it is stored, with the step that it begins with. */
export function startedProgress(status: string, atUs: number): string {
  const steps: readonly StoredStep[] = [[status, atUs]]
  return JSON.stringify(steps)
}

/** What the column `progress` of a row becomes with one more step, as an expression of its update. */
export function appendedProgress(status: string, atUs: number): RawBuilder<string> {
  return sql<string>`json_set(progress,
    CASE WHEN json_array_length(progress) < ${stepsMax} THEN '$[#]' ELSE '$[#-1]' END,
    json_array(${status}, ${atUs}))`
}

/** Progress as answers show it, made of what is stored. */
export function progressBody(stored: string): readonly Static<typeof progressSchema>[] {
  const steps = JSON.parse(stored) as readonly StoredStep[]
  return steps.map(([status, atUs], index) => ({
    step: index + 1,
    status,
    completed_at: formatUs(atUs),
  }))
}

/** Why a resource goes no further, made of what is stored. */
export function failureBody(stored: string | null): Static<typeof failureSchema> {
  return stored === null ? null : (JSON.parse(stored) as Static<typeof failureSchema>)
}
