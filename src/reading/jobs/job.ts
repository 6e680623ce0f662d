import type { ErrorCode } from '../../core/error-catalogue.ts'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'

/** States of work that goes on in the background, and outlives a restart. */
export const jobStates = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const

export type JobState = (typeof jobStates)[number]

/** States of jobs that go on by themselves. */
export const openStates: readonly JobState[] = ['queued', 'running']

/** States of jobs that can be told to go on. */
export const resumableStates: readonly JobState[] = ['failed', 'cancelled']

const keptDays = 7

/** How long a job that has ended is kept, with all that it has made. */
export const keptUs = keptDays * 24 * 3_600 * 1_000_000

/** Why a job has failed. */
export interface JobFailure {
  readonly error: string
  readonly message: string
}

export interface Job<Id extends string = string> {
  readonly id: Id
  readonly ownerId: UserId
  readonly createdAtUs: number
  /** The id of the key that asked for it, where that was written down. */
  readonly createdBy: string | undefined
  readonly state: JobState
  /** Progress from 0 to 1. */
  readonly progress: number
  readonly startedAtUs: number | undefined
  readonly finishedAtUs: number | undefined
  readonly failure: JobFailure | undefined
}

/** Who asks for a job, with which key. */
export interface JobMaker {
  readonly ownerId: UserId
  readonly apiKeyId: string
}

/** The columns that all tables of jobs have. */
export interface JobRow {
  readonly id: string
  readonly owner_id: string
  readonly created_at: number
  readonly created_by: string | null
  readonly state: string
  readonly progress: number
  readonly started_at: number | null
  readonly finished_at: number | null
  readonly error: string | null
  readonly message: string | null
}

export function jobOf<Id extends string>(row: JobRow): Job<Id> {
  return {
    id: row.id as Id,
    ownerId: row.owner_id as UserId,
    createdAtUs: row.created_at,
    createdBy: row.created_by ?? undefined,
    state: row.state as JobState,
    progress: row.progress,
    startedAtUs: row.started_at ?? undefined,
    finishedAtUs: row.finished_at ?? undefined,
    failure: row.error === null ? undefined : { error: row.error, message: row.message ?? '' },
  }
}

/** Time of the end before which nothing is kept of jobs. */
export function keptSinceUs(nowUs: number): number {
  return nowUs - keptUs
}

/** What a failed job says of an error: nothing that only the log may show. */
export function failureOf(error: unknown): JobFailure {
  if (error instanceof DomainError) return { error: error.code, message: error.message }
  const code: ErrorCode = 'internal_error'
  return { error: code, message: 'the service has a fault of its own: its log says more' }
}
