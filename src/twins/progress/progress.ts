import { type RawBuilder, sql } from 'kysely'
import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import type { failureSchema, progressSchema } from './progress-api.ts'

/** The status that asset streams, vaults and attachments begin in. */
export const receivedStatus = 'SERVICE_RECEIVED'

/** What is to be anchored is there, with what it hashes to. */
export const storedStatus = 'METADATA_STORED'

/** The ledger has it. */
export const submittedStatus = 'LEDGER_SUBMITTED'

/** What is anchored: nothing follows. */
export const completedStatus = 'COMPLETED'

/** What never will be anchored. */
export const failedStatus = 'FAILED'

/** Not done in time: somebody may ask for it again. */
export const errorStatus = 'ERROR'

/** Steps that are kept of one resource; beyond them the newest takes the place of the one before. */
const stepsMax = 1_000

/** A step as it is stored: its status, and the microseconds at which it was reached. */
type StoredStep = readonly [string, number]

/** Progress as it is stored, with the steps that it begins with: each was reached at once. */
export function startedProgress(atUs: number, ...statuses: readonly string[]): string {
  const steps: readonly StoredStep[] = statuses.map((status) => [status, atUs])
  return JSON.stringify(steps)
}

/** The statuses that a resource has had, in their order. */
export function statusesIn(stored: string): readonly string[] {
  return (JSON.parse(stored) as readonly StoredStep[]).map(([status]) => status)
}

/** The status that one had before it was an ERROR: it goes on from there. */
export function statusBeforeError(stored: string): string {
  return statusesIn(stored).findLast((one) => one !== errorStatus) ?? errorStatus
}

/** What the column `progress` of a row becomes with one more step, as an expression of its update. */
export function appendedProgress(status: string, atUs: number): RawBuilder<string> {
  return sql<string>`json_set(progress,
    CASE WHEN json_array_length(progress) < ${stepsMax} THEN '$[#]' ELSE '$[#-1]' END,
    json_array(${status}, ${atUs}))`
}

/** What a row becomes with what is to be anchored of it, if it is not so far already. */
export function storedColumns(progress: string, atUs: number) {
  if (statusesIn(progress).includes(storedStatus)) return { status: storedStatus }
  return { status: storedStatus, progress: appendedProgress(storedStatus, atUs) }
}

/** What stored progress becomes with one more step, for what is told of it in the same transaction. */
export function appendedStep(stored: string, status: string, atUs: number): string {
  const steps = JSON.parse(stored) as readonly StoredStep[]
  return JSON.stringify([...steps.slice(0, stepsMax - 1), [status, atUs]])
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
