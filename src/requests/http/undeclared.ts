import type { FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import { DomainError } from '../../core/errors.ts'

type Check = (
  request: FastifyRequest,
  reply: FastifyReply,
  done: (error?: DomainError) => void,
) => void

/**
 * Refuses what an operation does not declare at all: parameters where it has no query, and a body
 * where it takes none (decisions.md#bodies-and-queries). What it declares is checked by its
 * schemas.
 *
 * Made once for each route, and with a callback, because it runs for every request.
 */
export function undeclaredCheck({ querystring, body: bodySchema }: FastifySchema): Check {
  const hasQuery = querystring !== undefined
  const hasBody = bodySchema !== undefined
  return (request, _, done) => done(undeclaredIn(request, { hasQuery, hasBody }))
}

/** The refusal of what a request carries, and its operation does not declare at all. */
export function undeclaredIn(
  { query, body }: Pick<FastifyRequest, 'query' | 'body'>,
  { hasQuery, hasBody }: { readonly hasQuery: boolean; readonly hasBody: boolean },
): DomainError | undefined {
  const parameters = hasQuery ? none : membersOf(query)
  if (parameters.length > 0) return unknown('query', parameters)
  const members = hasBody ? none : membersOf(body)
  return members.length > 0 ? unknown('body', members) : undefined
}

const none: readonly string[] = []

/** What something would say: nothing when it is not there, or empty. */
function membersOf(value: unknown): readonly string[] {
  if (value === undefined || value === null) return none
  if (typeof value === 'object' && !Array.isArray(value)) return Object.keys(value)
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
