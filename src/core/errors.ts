/** Every failure that a caller can act on, by its stable code. The HTTP status of each is in `http/error-handler.ts`. */
export type ErrorCode =
  | 'ambiguous_credentials'
  | 'body_too_large'
  | 'conflict'
  | 'idempotency_conflict'
  | 'insufficient_permissions'
  | 'invalid_api_key'
  | 'invalid_request'
  | 'journal_full'
  | 'journal_unavailable'
  | 'malformed_body'
  | 'missing_credentials'
  | 'missing_required_streams'
  | 'not_found'
  | 'overloaded'
  | 'reading_rejected'
  | 'store_unavailable'
  | 'token_expired'
  | 'unsupported_definition'
  | 'unsupported_media_type'

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

/** The text of anything thrown, for logs and messages. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
