import type { ErrorCode } from './errors.ts'

/**
 * What a call has failed with: a code of the service, or one of the client's own. `unreachable`: no answer came, or
 * not all of one. `unreadable`: something answered that is not the service.
 */
export type FailureCode = ErrorCode | 'unreachable' | 'unreadable'

export interface FailureDetail {
  /** Where, as a dotted path; empty for all of it. */
  readonly path: string
  readonly message: string
}

interface FailureFacts {
  readonly operationId: string
  readonly status: number
  readonly code: FailureCode
  readonly details?: readonly FailureDetail[]
  readonly remedy?: string | undefined
  readonly retryAfterS?: number | undefined
  readonly idempotencyKey?: string | undefined
  readonly headers?: Headers
  readonly body?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/** A call that was refused, or that nothing has answered. */
export class ApiFailure extends Error {
  readonly operationId: string
  /** That of the answer; 0 where none came. */
  readonly status: number
  readonly code: FailureCode
  /** What is wrong, place by place; mostly none. */
  readonly details: readonly FailureDetail[]
  /** What to do about it, where the service says so. */
  readonly remedy: string | undefined
  /** Seconds until another try makes sense, where the service says so. */
  readonly retryAfterS: number | undefined
  /** A call that repeats this one under its key does nothing twice, whether this one has done it or not. */
  readonly idempotencyKey: string | undefined
  /** Headers of the answer; none where none came. */
  readonly headers: Headers
  /** The whole body, for what some operations say beside the rest. */
  readonly body: Readonly<Record<string, unknown>>

  constructor(message: string, facts: FailureFacts) {
    super(message, { cause: facts.cause })
    this.name = 'ApiFailure'
    this.operationId = facts.operationId
    this.status = facts.status
    this.code = facts.code
    this.details = facts.details ?? []
    this.remedy = facts.remedy
    this.retryAfterS = facts.retryAfterS
    this.idempotencyKey = facts.idempotencyKey
    this.headers = facts.headers ?? new Headers()
    this.body = facts.body ?? {}
  }
}
