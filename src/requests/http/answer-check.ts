import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorCatalogue } from '../../core/error-catalogue.ts'
import { unexpected } from './error-handler.ts'
import { errorSchema } from './openapi/error-answers.ts'
import { errorsOf } from './route-errors.ts'
import type { JsonSchema } from './schema.ts'
import { answerCheck } from './validation.ts'

/**
 * An onSend hook that notices an answer which is not the described one: another status, a member
 * too many or too few, an error code that the operation does not name. It sends a 500 instead, and
 * the log says why. The tests run with it; see docs/decisions.md.
 */
export function answerChecks() {
  const check = answerCheck()
  // Keyed by the schemas of the routes: there are as many as were written.
  const compiled = new Map<JsonSchema, ReturnType<typeof check>>()
  const requireFit = (schema: JsonSchema, value: unknown) => {
    const validate = compiled.get(schema) ?? check(schema)
    compiled.set(schema, validate)
    if (validate(value)) return
    const problems = validate.errors?.map(({ instancePath, message, params }) => {
      return `${instancePath} ${message} ${JSON.stringify(params)}`
    })
    throw new Error(String(problems?.join('; ')))
  }
  const requireDescribed = (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const schema = schemaOf(request, reply)
    if (schema !== undefined) {
      if (isText(payload) && isJson(reply)) requireFit(schema, JSON.parse(String(payload)))
      return
    }
    if (reply.statusCode < 400) throw new Error('the status is not described')
    const body: unknown = JSON.parse(String(payload))
    requireFit(errorSchema, body)
    requireCode(request, (body as { readonly error: string }).error)
  }

  return async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const { routeOptions, is404, method } = request
    const isDescribed = !is404 && routeOptions.config.undocumented !== true && method !== 'HEAD'
    if (!isDescribed || reply.statusCode === errorCatalogue.internal_error.status) return payload
    try {
      requireDescribed(request, reply, payload)
      return payload
    } catch (error) {
      const answer = `${reply.statusCode} of ${method} ${routeOptions.url}`
      request.log.error(
        { err: error, reqId: request.id },
        `an answer is not as described: ${answer}`,
      )
      return internalError(reply)
    }
  }
}

function internalError(reply: FastifyReply): string {
  const body = unexpected('the answer is not as described: the log says why')
  reply.code(body.statusCode).type('application/json').removeHeader('content-length')
  return JSON.stringify(body)
}

function isText(payload: unknown): boolean {
  return typeof payload === 'string' || Buffer.isBuffer(payload)
}

function isJson(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type')).startsWith('application/json')
}

/**
 * The schema that the route has for this status and content type; nothing for a status that it
 * leaves out.
 */
function schemaOf(request: FastifyRequest, reply: FastifyReply): JsonSchema | undefined {
  const { schema } = request.routeOptions
  const responses = (schema?.response ?? {}) as Readonly<Record<string, JsonSchema>>
  const response = responses[reply.statusCode]
  if (response === undefined || response['type'] === 'null') return response
  const type = String(reply.getHeader('content-type')).split(';')[0] ?? ''
  const content = (response['content'] ?? { 'application/json': { schema: response } }) as Readonly<
    Record<string, { readonly schema: JsonSchema }>
  >
  const chosen = (content[type] ?? content['*/*'])?.schema
  if (chosen === undefined) throw new Error(`the content type ${type} is not described`)
  return chosen
}

/** @throws Error when the operation does not name this code */
function requireCode(request: FastifyRequest, code: string): void {
  const { method, routeOptions } = request
  const { url = '', schema = {}, config } = routeOptions
  if (errorsOf({ method, url, schema, config }).some((known) => known === code)) return
  throw new Error(`the operation does not name the code ${code}`)
}
