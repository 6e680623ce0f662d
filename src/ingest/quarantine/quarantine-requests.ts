import { invalidParameter } from '../../core/errors.ts'
import { parseRfc3339 } from '../../core/time.ts'
import { refuseUnknownParameters } from '../../requests/http/pagination.ts'
import type { QuarantineFilter } from './quarantine-store.ts'

/** Ids that one request may name: what a quarantine holds at most. */
export const idsMax = 10_000

/** Which entries, in a query string. */
const filterParameters = ['reason', 'start', 'end'] as const

type Query = Readonly<Record<string, unknown>>

/**
 * The filter of a query string: `reason` and `ids` are comma lists.
 *
 * @throws DomainError `invalid_request`
 */
export function queryFilter(query: Query, others: readonly string[]): QuarantineFilter {
  refuseUnknownParameters(query, [...filterParameters, ...others])
  return filterOf({
    ids: listOf(query['ids'])?.map(idOf),
    reason: listOf(query['reason']),
    start: query['start'],
    end: query['end'],
  })
}

/** The filter as a body spells it. */
export interface FilterBody {
  readonly ids?: readonly number[]
  readonly reason?: string | readonly string[]
  readonly start?: string
  readonly end?: string
}

/** @throws DomainError `invalid_request` */
export function bodyFilter(body: FilterBody | null | undefined): QuarantineFilter {
  const { ids, reason, start, end } = body ?? {}
  return filterOf({ ids, reason: reason === undefined ? undefined : [reason].flat(), start, end })
}

/** An id of the interface; nothing for a text that is none. */
export function parseEntryId(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

function filterOf(wanted: {
  readonly ids: readonly number[] | undefined
  readonly reason: readonly string[] | undefined
  readonly start: unknown
  readonly end: unknown
}): QuarantineFilter {
  const startUs = instantOf(wanted.start, 'start')
  const endUs = instantOf(wanted.end, 'end')
  if (startUs !== undefined && endUs !== undefined && endUs < startUs) {
    throw invalidParameter('end', 'must not be before start')
  }
  return { ids: wanted.ids ?? [], reasons: wanted.reason ?? [], startUs, endUs }
}

function listOf(text: unknown): readonly string[] | undefined {
  return typeof text === 'string' ? text.split(',') : undefined
}

function idOf(text: string): number {
  const id = parseEntryId(text)
  if (id === undefined) throw invalidParameter('ids', 'must be a comma list of ids of entries')
  return id
}

function instantOf(text: unknown, name: string): number | undefined {
  if (typeof text !== 'string') return undefined
  const instant = parseRfc3339(text)
  if (typeof instant === 'number') return instant
  throw invalidParameter(name, `must be an RFC 3339 date-time: ${instant.problem}`)
}
