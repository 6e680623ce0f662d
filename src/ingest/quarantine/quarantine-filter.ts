import type { Static } from 'typebox'
import { invalidParameter } from '../../core/errors.ts'
import { parseRfc3339 } from '../../core/time.ts'
import type { chosenSchema, clearQuery } from './quarantine-api.ts'
import type { QuarantineFilter } from './quarantine-store.ts'

/**
 * The filter of a query string: `reason` and `ids` are comma lists.
 *
 * @throws DomainError `invalid_request`
 */
export function queryFilter(query: Static<typeof clearQuery>): QuarantineFilter {
  const { ids, reason, start, end } = query
  return filterOf({ ids: ids?.split(',').map(idOf), reason: reason?.split(','), start, end })
}

/** The filter of a body. @throws DomainError `invalid_request` */
export function bodyFilter(body: Static<typeof chosenSchema> | undefined): QuarantineFilter {
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
  readonly start: string | undefined
  readonly end: string | undefined
}): QuarantineFilter {
  const startUs = instantOf(wanted.start, 'start')
  const endUs = instantOf(wanted.end, 'end')
  if (startUs !== undefined && endUs !== undefined && endUs < startUs) {
    throw invalidParameter('end', 'must not be before start')
  }
  return { ids: wanted.ids ?? [], reasons: wanted.reason ?? [], startUs, endUs }
}

function idOf(text: string): number {
  const id = parseEntryId(text)
  if (id === undefined) throw invalidParameter('ids', 'must be a comma list of ids of entries')
  return id
}

function instantOf(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined
  const instant = parseRfc3339(text)
  if (typeof instant === 'number') return instant
  throw invalidParameter(name, `must be an RFC 3339 date-time: ${instant.problem}`)
}
