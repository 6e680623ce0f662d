import type { FastifyRequest } from 'fastify'
import { precisionNamed } from '../../processors/line-protocol/precision.ts'
import { formatOfBody } from '../../processors/media-types.ts'
import { contextTexts } from '../../src/contracts/context-texts.ts'
import type { MessageContext } from '../../src/contracts/mapping.ts'
import type { CompiledStream } from '../../src/contracts/reading.ts'
import type { LinePrecision } from '../../src/contracts/stream-schema.ts'
import { DomainError } from '../../src/core/errors.ts'
import { undeclaredIn } from '../../src/requests/http/undeclared.ts'

type Query = Readonly<Record<string, string | readonly string[]>>

/** A query of any parameters: whether they are of use, the stream says. */
export const anyQuery = { type: 'object', additionalProperties: { type: 'string' } } as const

/**
 * What is known of the messages in the body of a request. Nothing of it is made for a stream that has no mapping.
 *
 * @param proof a header and a parameter more that no one may see
 */
export function requestContext(
  request: FastifyRequest,
  { map, reads }: Pick<CompiledStream, 'map' | 'reads'>,
  proof?: { readonly header: string; readonly parameter: string | undefined },
): MessageContext {
  if (map === undefined) return nothing
  const headers = Object.entries(request.headers).filter(([name]) => name !== proof?.header)
  if (reads?.has('query') !== true) return { headers: contextTexts(headers) }
  const parameters = Object.entries(request.query as Query)
  const query = contextTexts(parameters.filter(([name]) => name !== proof?.parameter))
  return { headers: contextTexts(headers), query }
}

/** The unit of times that a request with lines names. @throws DomainError `invalid_request` */
export function precisionOf({ query }: Pick<FastifyRequest, 'query'>): LinePrecision | undefined {
  const { precision: named } = query as Query
  if (named === undefined) return undefined
  const precision = typeof named === 'string' ? precisionNamed(named) : undefined
  if (precision !== undefined) return precision
  const detail = { path: 'precision', message: 'must be ns, us, ms, s, m or h' }
  throw new DomainError('invalid_request', `precision ${detail.message}`, { details: [detail] })
}

/** @throws DomainError `invalid_request` for parameters of a request that its stream does not read */
export function refuseUnreadQuery(request: FastifyRequest, stream: CompiledStream): void {
  if (stream.reads?.has('query') === true) return
  const { precision, ...others } = request.query as Query
  const isOfLines =
    precision !== undefined && formatOfBody(request.headers, stream.format) === 'line-protocol'
  const { body, query } = request
  const problem = undeclaredIn({ body, query: isOfLines ? others : query }, bodyOnly)
  if (problem !== undefined) throw problem
}

const bodyOnly = { hasQuery: false, hasBody: true } as const

const nothing: MessageContext = {}
