import { DomainError, messageOf } from '../../core/errors.ts'

/** When to ask again: the client has tried for some seconds by then. */
const retryAfterSeconds = 5

/** Answers of servers that may be another one later. */
const passing = /^(?:408|429|5\d\d)$/

/** What becomes of a connection that has no answer yet, or not all of it. */
const cutOff =
  /^(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|TimeoutError|NetworkingError)$/

interface ClientError {
  readonly name?: string
  readonly code?: unknown
  readonly $metadata?: { readonly httpStatusCode?: number }
}

/**
 * Says where it was that something failed, which the messages of the client do not. What may pass by itself
 * is a DomainError `store_unavailable`; the rest, such as wrong credentials, is an Error.
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

/** HEAD has an answer without a body, so its name alone tells what is missing. */
export function isMissing(error: unknown): boolean {
  return ['NoSuchKey', 'NotFound'].includes(clientError(error).name ?? '')
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
  return cutOff.test(String(code)) || cutOff.test(String(name))
}

function nameOf(error: unknown): string {
  const { name = '', code } = clientError(error)
  return typeof code === 'string' && name === 'Error' ? code : name
}

function clientError(error: unknown): ClientError {
  return typeof error === 'object' && error !== null ? error : {}
}
