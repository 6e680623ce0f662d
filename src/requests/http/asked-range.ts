import { isRelativeTime, parseAskedTime } from '../../core/asked-time.ts'
import { type DomainError, invalidParameter } from '../../core/errors.ts'
import { formatUs, type InstantUs, parseInstant } from '../../core/time.ts'
import type { TimeOrder } from '../../storage/time-series/readings-query.ts'
import { cursorRemedy } from './request-remedies.ts'
import { text, typed } from './schema.ts'

/** A time in the query of a request. */
export function askedTime(description: string) {
  const forms = 'RFC 3339, `now`, `-24h`, or a number since 1970 (docs/queries.md#times).'
  return {
    ...text,
    description: `${description} ${forms}`,
    examples: ['2026-01-31T00:00:00Z', '-24h'],
  }
}

/** A time in the body of a request, where a number is one. */
export function askedTimeOrNumber(description: string) {
  return typed<string | number>({ ...askedTime(description), type: ['string', 'number'] })
}

/** Which end of a range comes first. */
export const orderParameter = typed<TimeOrder>({
  enum: ['asc', 'desc'],
  default: 'asc',
  description: '`desc`: the newest first. A cursor is for the order that it was made in.',
})

/** A range of time as people ask for it (docs/queries.md#times), page by page. */
export interface AskedRange {
  readonly start?: string | number | undefined
  readonly end?: string | number | undefined
  readonly order?: TimeOrder | undefined
  readonly cursor?: string | undefined
}

/** A range that was asked for by its instants, in RFC 3339. */
export interface SettledRange {
  readonly start: string | undefined
  readonly end: string | undefined
  readonly order: TimeOrder
  /** What the operation has made. */
  readonly cursor: string | undefined
  /** The cursor of the next page, which keeps what `now` was for this one. */
  readonly nextCursor: (own: string | null) => string | null
}

/** Between the cursor of an operation and what it keeps: no letter of base64url. */
const separator = '.'

/**
 * Settles what a range means: relative times are of the moment of the first page, which its cursor keeps.
 *
 * @throws DomainError `invalid_request` for times that are none, and for a cursor of the other order
 */
export function settledRange(asked: AskedRange, nowUs: number): SettledRange {
  const { order = 'asc' } = asked
  const [cursor, kept] = takenApart(asked.cursor)
  if (cursor !== undefined && kept.order !== order) {
    throw invalidParameter('cursor', `must be a cursor of the order ${order}`, orderRemedy)
  }
  if (cursor !== undefined) assertUnchanged(asked, kept)
  const start = settledTime('start', asked.start, { nowUs, kept: kept.start })
  const end = settledTime('end', asked.end, { nowUs, kept: kept.end })
  const pins = {
    order,
    start: isRelative(asked.start) ? start : undefined,
    end: isRelative(asked.end) ? end : undefined,
    startText: relativeText(asked.start),
    endText: relativeText(asked.end),
  }
  return { start, end, order, cursor, nextCursor: (own) => own && own + suffixOf(pins) }
}

const orderRemedy = 'Send the same order with each cursor, or leave cursor out for the first page.'

/**
 * A relative time is of the moment of the first page, so another one on a later page would do nothing.
 *
 * @throws DomainError `invalid_request`
 */
function assertUnchanged(asked: AskedRange, kept: Kept): void {
  for (const name of ['start', 'end'] as const) {
    const first = kept[`${name}Text`]
    const now = relativeText(asked[name])
    // A cursor of an older version does not know what was asked.
    if (first === undefined && kept[name] !== undefined) continue
    if (now === first) continue
    const message = first === undefined ? 'must not be relative' : `must be ${first}`
    throw invalidParameter(name, `${message}, as on the page that the cursor is of`, changedRemedy)
  }
}

const changedRemedy =
  'Send the same start and end with each cursor, or leave cursor out for the first page of another range.'

/**
 * The instant that a parameter means.
 *
 * @throws DomainError `invalid_request`
 */
export function askedInstant(name: string, value: string | number, nowUs: number): InstantUs {
  const parsed = parseAskedTime(String(value), nowUs)
  if (typeof parsed !== 'object') return parsed
  throw invalidParameter(name, `must be a time: ${parsed.problem}`, timeRemedy(name))
}

function timeRemedy(name: string): string {
  return `Write ${name} as 2026-01-31T00:00:00Z, as now, as -24h, or as a number since 1970; a + in an address is written %2B. docs/queries.md has all forms.`
}

interface Moment {
  readonly nowUs: number
  /** What the time was for the first page. */
  readonly kept: string | undefined
}

function settledTime(
  name: string,
  value: string | number | undefined,
  { nowUs, kept }: Moment,
): string | undefined {
  if (value === undefined) return undefined
  if (kept !== undefined && isRelative(value)) return kept
  return formatUs(askedInstant(name, value, nowUs))
}

function isRelative(value: string | number | undefined): boolean {
  return typeof value === 'string' && isRelativeTime(value)
}

interface Kept {
  readonly order: TimeOrder
  readonly start: string | undefined
  readonly end: string | undefined
  /** What was asked for, where it was relative. */
  readonly startText: string | undefined
  readonly endText: string | undefined
}

const nothingKept: Kept = {
  order: 'asc',
  start: undefined,
  end: undefined,
  startText: undefined,
  endText: undefined,
}

function suffixOf({ order, start, end, startText, endText }: Kept): string {
  if (order === 'asc' && start === undefined && end === undefined) return ''
  const kept = JSON.stringify([
    order,
    start ?? null,
    end ?? null,
    startText ?? null,
    endText ?? null,
  ])
  return separator + Buffer.from(kept).toString('base64url')
}

/** @throws DomainError `invalid_request` for a text that we have not made */
function takenApart(cursor: string | undefined): readonly [string | undefined, Kept] {
  if (cursor === undefined) return [undefined, nothingKept]
  const at = cursor.indexOf(separator)
  if (at === -1) return [cursor, nothingKept]
  const [order, start, end, startText = null, endText = null] = listIn(cursor.slice(at + 1))
  if ((order !== 'asc' && order !== 'desc') || !isKeptTime(start) || !isKeptTime(end)) {
    throw notOurs()
  }
  if (!isKeptText(startText) || !isKeptText(endText)) throw notOurs()
  const texts = { startText: startText ?? undefined, endText: endText ?? undefined }
  const times = { start: start ?? undefined, end: end ?? undefined }
  return [cursor.slice(0, at), { order, ...times, ...texts }]
}

function listIn(encoded: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString())
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

function isKeptTime(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && typeof parseInstant(value) !== 'object')
}

function isKeptText(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && isRelativeTime(value))
}

function relativeText(value: string | number | undefined): string | undefined {
  return typeof value === 'string' && isRelativeTime(value) ? value : undefined
}

function notOurs(): DomainError {
  return invalidParameter(
    'cursor',
    'must be a cursor from an answer of this operation',
    cursorRemedy,
  )
}
