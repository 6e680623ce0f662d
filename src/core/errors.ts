import { type ErrorCode, type ErrorEntry, errorCatalogue } from './error-catalogue.ts'
import { joinedHints } from './suggestions.ts'

const catalogue: Readonly<Record<ErrorCode, ErrorEntry>> = errorCatalogue

/** What is wrong with one place of a request: a dotted path and a sentence. */
export interface ErrorDetail {
  readonly path: string
  readonly message: string
  /** What to write instead, as a sentence, where that is known: it becomes the remedy, and no answer has it here. */
  readonly hint?: string | undefined
}

interface DomainErrorOptions extends ErrorOptions {
  /** Seconds after which the same request may succeed. Its presence marks the error as retryable. */
  readonly retryAfter?: number
  readonly details?: readonly ErrorDetail[]
  /** What to do about this very refusal, as a sentence, where more is known than its code says. */
  readonly remedy?: string | undefined
}

/** A failure the caller can act on. Anything else that is thrown is a bug and becomes a 500. */
export class DomainError extends Error {
  override readonly name = 'DomainError'
  readonly code: ErrorCode
  readonly retryAfter: number | undefined
  readonly details: readonly ErrorDetail[] | undefined
  /** What the caller can do about it, as a sentence. */
  readonly remedy: string

  constructor(code: ErrorCode, message: string, options: DomainErrorOptions = {}) {
    super(message, options)
    this.code = code
    this.retryAfter = options.retryAfter
    this.details = options.details
    const hints = options.details?.map(({ hint }) => hint) ?? []
    this.remedy = options.remedy ?? joinedHints(hints) ?? remedyOf(code, options.retryAfter)
  }

  /** True when the same input may succeed later: a source offers it again instead of giving up. */
  get retryable(): boolean {
    return this.retryAfter !== undefined
  }
}

/**
 * What is wrong with one parameter, or with one member of a body: `invalid_request`.
 *
 * @param remedy what to do about it, where more is known than to correct that place
 */
export function invalidParameter(path: string, message: string, remedy?: string): DomainError {
  const details = [{ path, message }]
  return new DomainError('invalid_request', `${path} ${message}`, { details, remedy })
}

/**
 * `insufficient_permissions`, naming the permission.
 *
 * @param reason what the permission is needed for, where the operation does not say it
 */
export function lackingPermission(permission: string, reason = ''): DomainError {
  return new DomainError(
    'insufficient_permissions',
    `the key lacks the permission ${permission}${reason}`,
    {
      remedy: `Use a key that has ${permission}: a key that has these scopes makes one with POST /keys.`,
    },
  )
}

/**
 * What the catalogue says a caller can do about a code.
 *
 * @param retryAfter seconds after which the same request may succeed
 */
export function remedyOf(code: ErrorCode, retryAfter?: number): string {
  const wait = retryAfter === undefined ? 'a few seconds' : `${retryAfter} s`
  return catalogue[code].remedy.replaceAll('retryAfter seconds', wait)
}

/** The text of anything thrown, for logs and messages. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
