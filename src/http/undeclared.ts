import type { FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../core/errors.ts'

/**
 * Refuses what an operation does not declare at all: parameters where it has no query, and a body
 * where it takes none (D7). What it declares is checked by its schemas.
 *
 * With a callback, because it runs for every request.
 */
export function refuseUndeclared(
  { routeOptions, query, body }: FastifyRequest,
  _: FastifyReply,
  done: (error?: DomainError) => void,
): void {
  const { querystring, body: bodySchema } = routeOptions.schema ?? {}
  const parameters = querystring === undefined ? Object.keys(query as object) : []
  const members = bodySchema === undefined ? membersOf(body) : []
  if (parameters.length > 0) done(unknown('query', parameters))
  else if (members.length > 0) done(unknown('body', members))
  else done()
}

/** What a body would say: nothing when there is none, or an empty one. */
function membersOf(body: unknown): readonly string[] {
  if (body === undefined || body === null) return []
  if (typeof body === 'object' && !Array.isArray(body)) return Object.keys(body)
  return ['']
}

/** Names that are told of one request. */
const namesMax = 100

function unknown(part: 'query' | 'body', names: readonly string[]): DomainError {
  const details = names
    .slice(0, namesMax)
    .map((path) => ({ path, message: 'is not known to this operation' }))
  return new DomainError('invalid_request', `this operation takes no ${part}`, { details })
}
