import type { FastifyReply, FastifyRequest } from 'fastify'
import { invalidParameter } from '../../core/errors.ts'
import { decodeCursor, encodeCursor, type ListCursor } from '../../core/list-cursor.ts'
import { unknownNameHint } from '../../core/suggestions.ts'
import { cursorRemedy, pagingRemedy } from './request-remedies.ts'
import { cursorLimitDefault, pageSizeDefault } from './schema.ts'

type Query = Readonly<Record<string, unknown>>

export interface IntegerRule {
  readonly fallback: number
  readonly min: number
  readonly max: number
}

/** An integer of the query string. @throws DomainError `invalid_request` outside of its range */
export function integerParameter(query: Query, name: string, rule: IntegerRule): number {
  const given = query[name]
  if (given === undefined) return rule.fallback
  const isInteger = typeof given === 'number' || /^\d{1,16}$/.test(given as string)
  const value = isInteger ? Number(given) : Number.NaN
  if (value >= rule.min && value <= rule.max) return value
  const message = `must be an integer from ${rule.min} to ${rule.max}`
  throw invalidParameter(name, message, pagingRemedy(name, rule.max))
}

/** @throws DomainError `invalid_request` for a parameter that is only known in other cases */
export function refuseUnknownParameters(query: Query, known: readonly string[]): void {
  const other = Object.keys(query).find((name) => !known.includes(name))
  if (other === undefined) return
  throw invalidParameter(
    other,
    'is not a parameter of this operation',
    unknownNameHint(other, known),
  )
}

/** One page of the header-key interface (decisions.md#lists). */
export interface PageRequest {
  readonly page: number
  readonly pageSize: number
}

export function pageRequest(query: {
  readonly page?: number
  readonly page_size?: number
}): PageRequest {
  return { page: query.page ?? 1, pageSize: query.page_size ?? pageSizeDefault }
}

export interface PageEnvelope<Item> {
  readonly total_records: number
  readonly current_page: number
  readonly total_pages: number
  readonly content: readonly Item[]
}

export function envelope<Item>(
  content: readonly Item[],
  totalRecords: number,
  { page, pageSize }: PageRequest,
): PageEnvelope<Item> {
  return {
    total_records: totalRecords,
    current_page: page,
    total_pages: Math.ceil(totalRecords / pageSize),
    content,
  }
}

/** The rows of a page: how many to pass over, and how many to take. */
export function sliceOf({ page, pageSize }: PageRequest) {
  return { offset: (page - 1) * pageSize, limit: pageSize }
}

/** One page of the token interface (decisions.md#lists). */
export interface CursorRequest {
  readonly limit: number
  readonly after: ListCursor | undefined
  /** What the cursor of the next page is made of the list's own. */
  readonly nextCursor?: ((own: string) => string | null) | undefined
}

/** @throws DomainError `invalid_request` for a cursor that we have not made */
export function cursorRequest(query: {
  readonly limit?: number
  readonly cursor?: string | undefined
}): CursorRequest {
  const { limit = cursorLimitDefault, cursor } = query
  if (cursor === undefined) return { limit, after: undefined }
  const after = decodeCursor(cursor)
  return after ? { limit, after } : refuseCursor()
}

/**
 * Cuts what was found to the page that was asked for. One more than its limit means that there is a
 * next page, which the Link header leads to (RFC 8288), with all other parameters of the query.
 */
export function cursorPage<Item extends ListCursor>(
  found: readonly Item[],
  { limit, nextCursor }: CursorRequest,
  exchange: PageExchange,
): readonly Item[] {
  const page = found.slice(0, limit)
  const last = page.at(-1)
  if (last && found.length > limit) {
    const own = encodeCursor(last)
    linkNext(nextCursor?.(own) ?? own, exchange)
  }
  return page
}

interface PageExchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Leads to the page behind a cursor. */
export function linkNext(cursor: string, { request, reply }: PageExchange): void {
  const [path, search] = request.url.split('?', 2)
  const parameters = new URLSearchParams(search)
  parameters.set('cursor', cursor)
  // Relative: it leads on from whatever address the caller has used.
  void reply.header('link', `<${path}?${parameters.toString()}>; rel="next"`)
}

/** @throws DomainError `invalid_request`, for a cursor that we have not made, or for another list */
export function refuseCursor(): never {
  throw invalidParameter(
    'cursor',
    'must be a cursor from an answer of this operation',
    cursorRemedy,
  )
}
