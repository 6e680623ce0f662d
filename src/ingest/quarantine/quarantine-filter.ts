import type { Static } from 'typebox'
import { invalidParameter } from '../../core/errors.ts'
import { comparableUs } from '../../core/time.ts'
import { askedInstant } from '../../requests/http/asked-range.ts'
import type { chosenSchema, clearQuery } from './quarantine-api.ts'
import type { QuarantineFilter } from './quarantine-store.ts'

/** What a query string chooses; its times may be settled already. */
type AskedEntries = Omit<Static<typeof clearQuery>, 'start' | 'end'> & {
  readonly start?: string | undefined
  readonly end?: string | undefined
}

/**
 * The filter of a query string: `reason` and `ids` are comma lists.
 *
 * @throws DomainError `invalid_request`
 */
export function queryFilter(query: AskedEntries, nowUs: number): QuarantineFilter {
  const { ids, reason, start, end } = query
  const wanted = { ids: ids?.split(',').map(idOf), reason: reason?.split(','), start, end }
  return filterOf(wanted, nowUs)
}

/** The filter of a body. @throws DomainError `invalid_request` */
export function bodyFilter(
  body: Static<typeof chosenSchema> | undefined,
  nowUs: number,
): QuarantineFilter {
  const { ids, reason, start, end } = body ?? {}
  const reasons = reason === undefined ? undefined : [reason].flat()
  return filterOf({ ids, reason: reasons, start, end }, nowUs)
}

/** An id of the interface; nothing for a text that is none. */
export function parseEntryId(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}

interface Wanted {
  readonly ids: readonly number[] | undefined
  readonly reason: readonly string[] | undefined
  readonly start: string | number | undefined
  readonly end: string | number | undefined
}

function filterOf(wanted: Wanted, nowUs: number): QuarantineFilter {
  const startUs = instantOf('start', wanted.start, nowUs)
  const endUs = instantOf('end', wanted.end, nowUs)
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

function instantOf(
  name: string,
  value: string | number | undefined,
  nowUs: number,
): number | undefined {
  return value === undefined ? undefined : comparableUs(askedInstant(name, value, nowUs))
}
