import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { type ErrorCode, type ErrorEntry, errorCatalogue } from '../../core/error-catalogue.ts'
import { DomainError, type ErrorDetail, remedyOf } from '../../core/errors.ts'
import { ThreadEnded } from '../../core/threads/rpc.ts'
import { type Problem, remedyOfProblems } from './request-remedies.ts'
import type { RouteRegister } from './route-description.ts'

const catalogue: Readonly<Record<ErrorCode, ErrorEntry>> = errorCatalogue

/** Problems that are named of one request. */
const detailsMax = 100

/** Characters of one text: what it repeats of a request may have a megabyte. */
const textCharsMax = 1_000

/** Seconds after which a service that is out of order is worth another try. */
const retryAfterFaultS = 5

/** The body of every error answer (decisions.md#errors). */
export interface ErrorBody {
  readonly error: string
  readonly message: string
  readonly statusCode: number
  /** What the caller can do about it, as a sentence. */
  readonly remedy: string
  readonly retryAfter?: number
  readonly details?: readonly ErrorDetail[]
}

function errorBody(error: DomainError): ErrorBody {
  const { code, message, details, remedy } = error
  const statusCode = catalogue[code].status
  const retryAfter = error.retryAfter ?? (statusCode === 503 ? retryAfterFaultS : undefined)
  return {
    error: code,
    message: cut(message),
    statusCode,
    remedy: cut(remedy),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(details !== undefined && { details: details.slice(0, detailsMax).map(cutDetail) }),
  }
}

function cutDetail({ path, message }: ErrorDetail): ErrorDetail {
  return { path: cut(path), message: cut(message) }
}

function cut(text: string): string {
  return text.length > textCharsMax ? `${text.slice(0, textCharsMax)}…` : text
}

/** The body of an answer to what is a fault of ours. */
export function unexpected(message: string): ErrorBody {
  const { status } = catalogue.internal_error
  const remedy = remedyOf('internal_error')
  return { error: 'internal_error', message, statusCode: status, remedy }
}

/** Has the code of an error whose body has another form. */
const errorHeader = 'x-streamvault-error'

/** How the errors of a route are written: protocols of others have forms of their own. */
export type ErrorForm = (
  body: ErrorBody,
  request: FastifyRequest,
) => {
  readonly statusCode: number
  readonly contentType: string
  readonly payload: string | Buffer
}

export function handleError(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const body = bodyOfError(error, request, reply)
  void reply.code(body.statusCode).send(body)
}

/** The handler of errors of routes whose clients expect another form. */
export function errorsIn(form: ErrorForm): typeof handleError {
  return (error, request, reply) => {
    const body = bodyOfError(error, request, reply)
    const { statusCode, contentType, payload } = form(body, request)
    // The code that the form has no place for: people look for it in docs/errors.md.
    void reply.code(statusCode).headers({ 'content-type': contentType, [errorHeader]: body.error })
    void reply.send(payload)
  }
}

function bodyOfError(error: unknown, request: FastifyRequest, reply: FastifyReply): ErrorBody {
  const known = toDomainError(error as FastifyError | DomainError, request)
  if (!known) {
    request.log.error({ err: error, reqId: request.id }, 'unexpected failure')
    return unexpected('an unexpected failure: it is in the log of the service')
  }
  const body = errorBody(known)
  if (body.statusCode >= 500) {
    request.log.warn({ err: known, cause: known.cause, reqId: request.id }, known.message)
  }
  if (body.retryAfter !== undefined) void reply.header('retry-after', body.retryAfter)
  return body
}

/** Answers what no route takes: an unknown path, or a known one with another method. */
export function notFoundHandler(routes: RouteRegister) {
  return (request: FastifyRequest, reply: FastifyReply): void => {
    const path = request.url.split('?')[0] ?? ''
    const allowed = routes.methodsOf(path)
    const what = `there is no ${request.method} ${path}`
    if (allowed.length === 0) {
      const unknown = new DomainError('not_found', what, { remedy: pathRemedy })
      return handleError(unknown, request, reply)
    }
    void reply.header('allow', allowed.join(', '))
    handleError(new DomainError('method_not_allowed', what), request, reply)
  }
}

const pathRemedy = 'Compare the path with those in GET /openapi.json, or at GET /docs.'

/** What the router itself cannot read. */
export function handleFrameworkError(
  { code }: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const error =
    code === 'FST_ERR_BAD_URL'
      ? new DomainError(
          'invalid_request',
          'the path has percent signs that are not followed by two hexadecimal digits',
        )
      : new DomainError('not_found', 'there is no such path', { remedy: pathRemedy })
  handleError(error, request, reply)
}

/** Fastify's own failures in our words. */
function toDomainError(
  error: FastifyError | DomainError,
  request: FastifyRequest,
): DomainError | undefined {
  if (error instanceof DomainError) return error
  // A request that its client has left may go on for longer than the service.
  if (error instanceof ThreadEnded) {
    return new DomainError('overloaded', 'the service is stopping', { retryAfter: 5, cause: error })
  }
  if (error.validation) return invalidPart(error.validation, error.validationContext)
  switch (error.code) {
    // The client went away while it was sending: nobody reads the answer.
    case 'ECONNRESET':
      return new DomainError('malformed_body', 'the body was cut off')
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new DomainError('body_too_large', 'the body is too large')
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new DomainError('unsupported_media_type', noSuchType, { remedy: typeRemedy(request) })
    case 'FST_ERR_CTP_INVALID_JSON_BODY':
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new DomainError('malformed_body', 'the body is not valid JSON')
    default:
      return isRefusal(error)
        ? new DomainError('malformed_request', 'the request is not valid HTTP')
        : undefined
  }
}

/** The refusal of a part of a request that a schema does not fit, naming what is wrong. */
export function invalidPart(
  problems: readonly Problem[],
  context: FastifyError['validationContext'],
): DomainError {
  const details = problems.slice(0, detailsMax).map((problem) => {
    const { instancePath, params } = problem
    const within = instancePath.slice(1).replaceAll('/', '.')
    const name = params['additionalProperty'] ?? params['missingProperty']
    const path = [within, name].filter((part) => typeof part === 'string' && part !== '')
    return { path: path.join('.'), message: explained(problem) }
  })
  const part = context === 'querystring' ? 'query' : context
  const remedy = remedyOfProblems(problems.slice(0, detailsMax))
  return new DomainError('invalid_request', `the ${part} is not valid`, { details, remedy })
}

/** The content types that the operation takes, where it says so itself. */
function typeRemedy({ routeOptions }: FastifyRequest): string | undefined {
  const { body } = (routeOptions.schema ?? {}) as {
    readonly body?: { readonly content?: Readonly<Record<string, unknown>> }
  }
  const types = Object.keys(body?.content ?? {})
  return types.length === 0 ? undefined : `Send Content-Type: ${types.join(', or ')}.`
}

const noSuchType = 'the content type is missing, or the operation does not take it'

/** Whether the framework refuses a request for another reason, which is no failure of ours. */
function isRefusal({ code, statusCode }: FastifyError): boolean {
  return (code ?? '').startsWith('FST_ERR_') && Math.floor((statusCode ?? 500) / 100) === 4
}

/** What is said of a parameter or member that an operation does not have. */
export const unknownMember = 'is not known to this operation'

/** What ajv found, in words that fit the path: its own name neither the member nor the values. */
function explained({ keyword, params, message }: Problem): string {
  switch (keyword) {
    case 'additionalProperties':
      return unknownMember
    case 'required':
      return 'is required'
    case 'enum':
      return `must be one of ${[params['allowedValues']].flat().map(String).join(', ')}`
    default:
      return message ?? 'is not valid'
  }
}
