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
  return ({ query, body }, _, done) => {
    const parameters = hasQuery ? none : membersOf(query)
    const members = hasBody ? none : membersOf(body)
    if (parameters.length > 0) done(unknown('query', parameters))
    else if (members.length > 0) done(unknown('body', members))
    else done()
  }
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
