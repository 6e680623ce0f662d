import { ApiFailure } from '../../../clients/typescript/call.ts'

/** What can be told of a call that failed. */
export interface Failure {
  readonly code: string
  readonly message: string
  readonly status: number
  readonly details: readonly { readonly path: string; readonly message: string }[]
  readonly retryAfterS: number | undefined
  /** What the service says to do about it. */
  readonly remedy?: string | undefined
}

/** A failure of the service or of the way there, in one form; what is a mistake of the page's own is told as that. */
export function failureOf(error: unknown): Failure {
  if (error instanceof ApiFailure) {
    const { code, message, status, details, retryAfterS, remedy } = error
    return { code, message, status, details, retryAfterS, remedy }
  }
  const message = error instanceof Error ? error.message : String(error)
  return { code: 'page_error', message, status: 0, details: [], retryAfterS: undefined }
}

/** Whether a call was given up because nobody waits for it any more. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/** Whether it is the session that is at fault: it has ended, or was never begun. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiFailure && error.status === 401
}

/** Whether the service was not reached at all. */
export function isCutOff(error: unknown): boolean {
  return error instanceof ApiFailure && error.code === 'unreachable'
}
