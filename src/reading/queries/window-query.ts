import { DomainError, invalidParameter } from '../../core/errors.ts'
import { formatUs } from '../../core/time.ts'
import type { Fill } from '../../storage/time-series/aggregate-query.ts'
import type { TimeOrder } from '../../storage/time-series/readings-query.ts'
import type {
  StoredWindowsQuery,
  WindowCursor,
} from '../../storage/time-series/windows/window-store.ts'
import type { WindowPoint } from '../windows/read-windows.ts'
import { zoneParameter } from './aggregation.ts'
import { encodeAggregateCursor, parseAggregateCursor } from './cursors.ts'
import { type KnownFields, unknownField } from './fields.ts'
import { timeRange } from './time-range.ts'

/** A question for windows, and which of their fields are to be shown: all where that is nothing. */
export interface WindowsQuery extends StoredWindowsQuery {
  readonly fields: readonly string[] | undefined
}

interface WindowsParameters {
  readonly start?: string | undefined
  readonly end?: string | undefined
  readonly order: TimeOrder
  readonly tz?: string | undefined
  readonly fill?: Fill | undefined
  readonly cursor?: string | undefined
}

interface AskedWindows {
  readonly streamIds: readonly string[]
  readonly fields: readonly string[] | undefined
  readonly known: KnownFields
  readonly limit: number
}

/**
 * Windows that begin in [start, end).
 *
 * @throws DomainError `invalid_request`
 */
export function windowsQuery(
  { streamIds, fields, known, limit }: AskedWindows,
  { start, end, order, tz, fill = 'none', cursor }: WindowsParameters,
): WindowsQuery {
  zoneParameter(tz)
  if (fill !== 'none') throw invalidParameter('fill', 'windows are not filled')
  for (const name of fields ?? []) assertWindowField(name, known)
  const after = parseWindowCursor(cursor)
  return { streamIds, ...timeRange(start, end), order, limit, after, fields }
}

/** Names of fields. */
interface Names {
  has(field: string): boolean
  keys(): Iterable<string>
}

/**
 * @throws DomainError `invalid_request`
 */
export function assertWindowField(name: string, known: Names): void {
  if (known.has(name)) return
  const [field = '', suffix] = name.split(':')
  if (suffix === undefined || !known.has(field)) throw unknownField(name, { known: known.keys() })
  throw invalidParameter('fields', `'${name}': a window has the function of its definition`)
}

/** @throws DomainError `unsupported_query` for a stream that has no windows, and never had any */
export function assertWindows(hasWindows: boolean): void {
  if (hasWindows) return
  const message = 'the stream has no windows: processing needs frequency and aggregation for them'
  throw new DomainError('unsupported_query', message, {
    details: [{ path: 'aggregation', message }],
  })
}

/** @throws DomainError `invalid_request` */
export function parseWindowCursor(text: string | undefined): WindowCursor | undefined {
  const cursor = parseAggregateCursor(text)
  return cursor && { timestampUs: cursor.timestampUs, streamId: cursor.series }
}

export function encodeWindowCursor({
  timestampUs,
  streamId,
}: Pick<WindowPoint, 'timestampUs' | 'streamId'>): string {
  return encodeAggregateCursor({ timestampUs, series: streamId })
}

/** Keys that stand in every window, in the order of the columns behind its fields. */
export const ownWindowKeys = ['count', 'revision', 'computedAt'] as const

/**
 * A window in an answer. Fields whose names are ours there have `:value` behind them; no field has a colon
 * in its name.
 */
export function windowBody(
  { timestampUs, values, count, revision, computedAtUs }: WindowPoint,
  fields: readonly string[] | undefined,
  series: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  const shown = Object.entries(values).filter(([name]) => !fields || fields.includes(name))
  return {
    timestamp: formatUs(timestampUs),
    ...series,
    ...(Object.fromEntries(shown.map(([name, value]) => [windowKey(name), value])) as object),
    count,
    revision,
    computedAt: computedAtUs === undefined ? null : formatUs(computedAtUs),
  }
}

/** The key of a field in a window. */
export function windowKey(name: string): string {
  return (ownWindowKeys as readonly string[]).includes(name) ? `${name}:value` : name
}
