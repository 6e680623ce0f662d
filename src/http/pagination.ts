import { DomainError } from '../core/errors.ts'

type Query = Readonly<Record<string, unknown>>

interface IntegerRule {
  readonly fallback: number
  readonly min: number
  readonly max: number
}

/** An integer of the query string. @throws DomainError `invalid_request` outside of its range */
export function integerParameter(query: Query, name: string, rule: IntegerRule): number {
  const text = query[name]
  if (text === undefined) return rule.fallback
  const value = typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (value >= rule.min && value <= rule.max) return value
  throw invalidParameter(name, `must be an integer from ${rule.min} to ${rule.max}`)
}

export function invalidParameter(path: string, message: string): DomainError {
  return new DomainError('invalid_request', `${path} ${message}`, { details: [{ path, message }] })
}

/** @throws DomainError `invalid_request` for a parameter that the operation does not know, or twice */
export function refuseUnknownParameters(query: Query, known: readonly string[]): void {
  for (const [name, value] of Object.entries(query)) {
    if (!known.includes(name)) throw invalidParameter(name, 'is not a parameter of this operation')
    if (Array.isArray(value)) throw invalidParameter(name, 'came more than once')
  }
}

/** One page of the header-key interface (D6). */
export interface PageRequest {
  readonly page: number
  readonly pageSize: number
}

export function pageRequest(query: Query): PageRequest {
  return {
    page: integerParameter(query, 'page', { fallback: 1, min: 1, max: 1_000_000_000 }),
    pageSize: integerParameter(query, 'page_size', { fallback: 10, min: 1, max: 100 }),
  }
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
