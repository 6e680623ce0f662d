import { DomainError, messageOf } from '../../core/errors.ts'

/** When to ask again: the client has tried for some seconds by then. */
const retryAfterSeconds = 5

/** Answers of servers that may be another one later. */
const passing = /^(?:408|429|5\d\d)$/

/** What becomes of a connection that has no answer yet, or not all of it. */
const cutOff: readonly unknown[] = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'TimeoutError',
]

interface ClientError {
  readonly name?: string
  readonly code?: unknown
  readonly cause?: unknown
  readonly $metadata?: { readonly httpStatusCode?: number }
}

/**
 * Says where it was that something failed, which the messages of the client do not. What may pass
 * by itself is a DomainError `store_unavailable`; the rest, such as wrong credentials, is an Error.
 */
export function bucketFailure(place: string, error: unknown): unknown {
  if (error instanceof DomainError) return error
  const message = `${place}: ${nameOf(error)} ${messageOf(error)}`.trimEnd()
  if (!isPassing(error)) return new Error(message, { cause: error })
  return new DomainError('store_unavailable', message, {
    retryAfter: retryAfterSeconds,
    cause: error,
  })
}

/** Whether an object is not there, as the client says it or as it is said here. */
export function isMissing(error: unknown): boolean {
  const { name = '', cause } = clientError(error)
  return ['NoSuchKey', 'NotFound'].includes(name) || (cause !== undefined && isMissing(cause))
}

export function isBeyondEnd(error: unknown): boolean {
  return clientError(error).$metadata?.httpStatusCode === 416
}

function isPassing(error: unknown): boolean {
  const { name, code, $metadata } = clientError(error)
  const { httpStatusCode } = $metadata ?? {}
  if (httpStatusCode !== undefined && httpStatusCode >= 300) {
    return passing.test(String(httpStatusCode))
  }
  return cutOff.includes(code) || cutOff.includes(name)
}

function nameOf(error: unknown): string {
  const { name = '', code } = clientError(error)
  return typeof code === 'string' && name === 'Error' ? code : name
}

function clientError(error: unknown): ClientError {
  return typeof error === 'object' && error !== null ? error : {}
}
