import type { Static } from 'typebox'
import { DomainError, invalidParameter } from '../../core/errors.ts'
import { comparableUs } from '../../core/time.ts'
import { askedInstant } from '../../requests/http/asked-range.ts'
import { decodePosition, type Position } from './position.ts'
import type { tailQuery } from './tail-api.ts'

/** Where somebody wants to begin. */
export type TailStart =
  | { readonly kind: 'now' }
  | { readonly kind: 'position'; readonly position: Position }
  | { readonly kind: 'time'; readonly startUs: number }
  | { readonly kind: 'newest'; readonly count: number }

export interface TailWish {
  readonly start: TailStart
  readonly withQuarantined: boolean
}

type TailQuery = Static<typeof tailQuery>

const starts = ['from', 'start', 'last'] as const

/**
 * What a request asks for. `Last-Event-ID` goes before the query: clients come back with the URL that
 * they began with.
 *
 * @throws DomainError `invalid_request`
 */
export function tailWish(query: TailQuery, lastEventId: unknown, nowUs: number): TailWish {
  const [first, second] = starts.filter((name) => query[name] !== undefined)
  if (second !== undefined) throw invalidParameter(second, `does not go together with ${first}`)
  return {
    start: startOf(query, lastEventId, nowUs),
    withQuarantined: query.include === 'quarantined',
  }
}

function startOf(query: TailQuery, lastEventId: unknown, nowUs: number): TailStart {
  if (typeof lastEventId === 'string' && lastEventId !== '') {
    const position = decodePosition(lastEventId)
    if (position) return { kind: 'position', position }
    throw new DomainError(
      'invalid_request',
      'the header Last-Event-ID is not a position of this service',
    )
  }
  const { from, start, last } = query
  if (from !== undefined) {
    const position = decodePosition(from)
    if (position) return { kind: 'position', position }
    throw invalidParameter('from', 'must be a position from a tail')
  }
  if (start !== undefined) {
    const startUs = comparableUs(askedInstant('start', start, nowUs))
    return { kind: 'time', startUs: Math.max(0, startUs) }
  }
  return last === undefined || last === 0 ? { kind: 'now' } : { kind: 'newest', count: last }
}
