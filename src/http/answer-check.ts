import type { FastifyReply, FastifyRequest } from 'fastify'
import { errorCatalogue } from '../core/error-catalogue.ts'
import { errorSchema } from './openapi/error-answers.ts'
import { errorsOf } from './route-errors.ts'
import type { JsonSchema } from './schema.ts'
import { answerCheck } from './validation.ts'

/**
 * An onSend hook that notices an answer which is not the described one: another status, a member
 * too many or too few, an error code that the operation does not name. It throws, so that the
 * caller gets a 500 and the log says why. The tests run with it; see docs/decisions.md.
 */
export function answerChecks() {
  const check = answerCheck()
  // Keyed by the schemas of the routes: there are as many as were written.
  const compiled = new Map<JsonSchema, ReturnType<typeof check>>()
  const require = (schema: JsonSchema, value: unknown, what: string) => {
    const validate = compiled.get(schema) ?? check(schema)
    compiled.set(schema, validate)
    if (validate(value)) return
    const problems = validate.errors?.map(({ instancePath, message, params }) => {
      return `${instancePath} ${message} ${JSON.stringify(params)}`
    })
    throw new Error(`${what} is not as described: ${problems?.join('; ')}`)
  }

  return async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const { routeOptions, is404, method } = request
    const isDescribed = !is404 && routeOptions.config.undocumented !== true && method !== 'HEAD'
    if (!isDescribed || reply.statusCode === errorCatalogue.internal_error.status) return payload
    const what = `the answer ${reply.statusCode} of ${method} ${routeOptions.url}`
    const schema = schemaOf(request, reply)
    if (schema !== undefined) {
      if (isText(payload) && isJson(reply)) require(schema, JSON.parse(String(payload)), what)
      return payload
    }
    if (reply.statusCode < 400) throw new Error(`${what} is not described`)
    const body: unknown = JSON.parse(String(payload))
    require(errorSchema, body, what)
    requireCode(request, (body as { readonly error: string }).error, what)
    return payload
  }
}

function isText(payload: unknown): boolean {
  return typeof payload === 'string' || Buffer.isBuffer(payload)
}

function isJson(reply: FastifyReply): boolean {
  return String(reply.getHeader('content-type')).startsWith('application/json')
}

/** What the route says of this status and content type. */
function schemaOf(request: FastifyRequest, reply: FastifyReply): JsonSchema | undefined {
  const { schema } = request.routeOptions
  const responses = (schema?.response ?? {}) as Readonly<Record<string, JsonSchema>>
  const response = responses[reply.statusCode]
  const content = response?.['content'] as Readonly<Record<string, { schema: JsonSchema }>>
  if (response === undefined || content === undefined) return response
  const type = String(reply.getHeader('content-type')).split(';')[0] ?? ''
  const chosen = content[type]?.schema
  if (chosen === undefined) throw new Error(`${request.url} does not describe answers of ${type}`)
  return chosen
}

function requireCode(request: FastifyRequest, code: string, what: string): void {
  const { method, routeOptions } = request
  const { url = '', schema = {}, config } = routeOptions
  if (errorsOf({ method, url, schema, config }).some((known) => known === code)) return
  throw new Error(`${what} has the code ${code}, which the operation does not name`)
}
