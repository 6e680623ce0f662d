import type { ErrorCode } from './error-catalogue.ts'

/** What is wrong with one place of a request: a dotted path and a sentence. */
export interface ErrorDetail {
  readonly path: string
  readonly message: string
}

interface DomainErrorOptions extends ErrorOptions {
  /** Seconds after which the same request may succeed. Its presence marks the error as retryable. */
  readonly retryAfter?: number
  readonly details?: readonly ErrorDetail[]
}

/** A failure the caller can act on. Anything else that is thrown is a bug and becomes a 500. */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: ErrorCode
  readonly retryAfter: number | undefined
  readonly details: readonly ErrorDetail[] | undefined

  constructor(code: ErrorCode, message: string, options: DomainErrorOptions = {}) {
    super(message, options)
    this.code = code
    this.retryAfter = options.retryAfter
    this.details = options.details
  }

  /** True when the same input may succeed later: a source offers it again instead of giving up. */
  get retryable(): boolean {
    return this.retryAfter !== undefined
  }
}

/** What is wrong with one parameter, or with one member of a body: `invalid_request`. */
export function invalidParameter(path: string, message: string): DomainError {
  return new DomainError('invalid_request', `${path} ${message}`, { details: [{ path, message }] })
}

/** The text of anything thrown, for logs and messages. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
