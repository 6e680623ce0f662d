import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, type ErrorCode, type ErrorDetail } from '../core/errors.ts'

/** The one place where a domain failure becomes an HTTP status. A new code fails to compile here. */
const statusByCode: Readonly<Record<ErrorCode, number>> = {
  ambiguous_credentials: 400,
  body_too_large: 413,
  conflict: 409,
  idempotency_conflict: 422,
  insufficient_permissions: 403,
  invalid_api_key: 401,
  invalid_request: 400,
  journal_full: 503,
  journal_unavailable: 503,
  malformed_body: 400,
  missing_credentials: 401,
  missing_required_streams: 422,
  not_found: 404,
  overloaded: 503,
  reading_rejected: 422,
  store_unavailable: 503,
  token_expired: 401,
  unsupported_definition: 422,
  unsupported_media_type: 415,
}

/** Problems that are named of one request. */
const detailsMax = 100

/** Seconds after which a service that is out of order is worth another try. */
const retryAfterFaultS = 5

/** The body of every error answer (D4). */
export interface ErrorBody {
  readonly error: string
  readonly message: string
  readonly statusCode: number
  readonly retryAfter?: number
  readonly details?: readonly ErrorDetail[]
}

function errorBody(error: DomainError): ErrorBody {
  const { code, message, details } = error
  const statusCode = statusByCode[code]
  const retryAfter = error.retryAfter ?? (statusCode === 503 ? retryAfterFaultS : undefined)
  return {
    error: code,
    message,
    statusCode,
    ...(retryAfter !== undefined && { retryAfter }),
    ...(details !== undefined && { details }),
  }
}

export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = toDomainError(error as FastifyError | DomainError)
  if (!known) {
    request.log.error({ err: error }, 'unexpected failure')
    const message = 'an unexpected failure: it is in the log of the service'
    void reply.code(500).send({ error: 'internal_error', message, statusCode: 500 })
    return
  }
  const body = errorBody(known)
  if (body.statusCode >= 500) request.log.warn({ err: known, cause: known.cause }, known.message)
  if (body.retryAfter !== undefined) void reply.header('retry-after', body.retryAfter)
  void reply.code(body.statusCode).send(body)
}

export function handleNotFound(request: FastifyRequest, reply: FastifyReply): void {
  const path = request.url.split('?')[0]
  handleError(new DomainError('not_found', `there is no ${request.method} ${path}`), request, reply)
}

/** Fastify's own failures in our words. */
function toDomainError(error: FastifyError | DomainError): DomainError | undefined {
  if (error instanceof DomainError) return error
  if (error.validation) {
    const details = error.validation
      .slice(0, detailsMax)
      .map(({ instancePath, params, message }) => {
        const within = instancePath.slice(1).replaceAll('/', '.')
        const name = params['additionalProperty'] ?? params['missingProperty']
        const path = [within, name].filter((part) => typeof part === 'string' && part !== '')
        return { path: path.join('.'), message: message ?? 'is not valid' }
      })
    return new DomainError('invalid_request', `the ${error.validationContext} is not valid`, {
      details,
    })
  }
  switch (error.code) {
    // The client went away while it was sending: nobody reads the answer.
    case 'ECONNRESET':
      return new DomainError('malformed_body', 'the body was cut off')
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new DomainError('body_too_large', 'the body is too large')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new DomainError('unsupported_media_type', 'the content type must be application/json')
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new DomainError('malformed_body', 'the body is not valid JSON')
    default:
      return undefined
  }
}
