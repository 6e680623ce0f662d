import type { Static } from 'typebox'
import { invalidParameter } from '../../core/errors.ts'
import type { SettledRange } from '../../requests/http/asked-range.ts'
import { integerParameter } from '../../requests/http/pagination.ts'
import type {
  AggregateQuery,
  Fill,
  TimeWeights,
} from '../../storage/time-series/aggregate-query.ts'
import type { ReadingsQuery } from '../../storage/time-series/readings-query.ts'
import { parseAggregation, zoneParameter } from './aggregation.ts'
import { parseAggregateCursor, parseReadingsCursor } from './cursors.ts'
import type { dataParameters } from './data-api.ts'
import { allFields, type KnownFields, parseFields, unknownField } from './fields.ts'
import { timeRange } from './time-range.ts'
import { assertWindows, type WindowsQuery, windowsQuery } from './window-query.ts'

/** What the parameters of a request ask for, by its instants. */
export type DataParameters = Omit<
  Static<typeof dataParameters>,
  'start' | 'end' | 'order' | 'cursor'
> &
  Omit<SettledRange, 'nextCursor'>

/** What a query string asks for. */
export type DataQuery =
  | { readonly kind: 'raw'; readonly query: ReadingsQuery }
  | { readonly kind: 'aggregated'; readonly query: AggregateQuery }
  | { readonly kind: 'windows'; readonly query: WindowsQuery }

interface AskedStream {
  readonly id: string
  readonly fields: KnownFields
  readonly timeWeights: TimeWeights | undefined
  /** Whether it has, or has had, windows that can be asked for. */
  readonly hasWindows?: boolean
}

/** Bytes of readings in a page, about. A longer one would only keep others waiting. */
const pageBytesMax = 4 * 1024 * 1024

/** Limits of a page, and of an answer as lines, which has none unless it is asked for. */
const pageLimits = { fallback: 1_000, min: 1, max: 10_000 }
const exportLimits = {
  fallback: Number.MAX_SAFE_INTEGER,
  min: 1,
  max: Number.MAX_SAFE_INTEGER,
}

/**
 * Reads the parameters, which the schema has checked one by one.
 *
 * @throws DomainError `invalid_request`, `unsupported_query`
 */
export function dataQuery(
  stream: AskedStream,
  parameters: DataParameters,
  form: 'page' | 'export',
): DataQuery {
  const { start, end, order, aggregation = 'raw', tz, fill = 'none' } = parameters
  const limits = form === 'page' ? pageLimits : exportLimits
  const limit = integerParameter(parameters, 'limit', limits)
  const range = timeRange(start, end)
  const texts = parameters.fields?.split(',')
  if (aggregation === 'window') {
    assertWindows(stream.hasWindows === true)
    const asked = { streamIds: [stream.id], fields: texts, known: stream.fields, limit }
    return { kind: 'windows', query: windowsQuery(asked, parameters) }
  }
  const buckets = parseAggregation(aggregation, zoneParameter(tz))
  if (!buckets) {
    if (fill !== 'none') throw invalidParameter('fill', 'needs an aggregation other than raw')
    const fields = rawFields(texts ?? [], stream.fields)
    const after = parseReadingsCursor(parameters.cursor)
    const size = { limit, bytesMax: pageBytesMax, after }
    return { kind: 'raw', query: { streamId: stream.id, ...range, order, fields, ...size } }
  }
  assertBounded(fill, parameters)
  return {
    kind: 'aggregated',
    query: {
      series: [{ key: stream.id, streamIds: [stream.id] }],
      ...range,
      order,
      buckets,
      fields: texts ? parseFields(texts, stream.fields) : allFields(stream.fields),
      timeWeights: stream.timeWeights,
      fill,
      limit,
      after: parseAggregateCursor(parameters.cursor),
    },
  }
}

/**
 * There is a point for each bucket of a range when it is filled, so it has to have two ends.
 *
 * @throws DomainError `invalid_request`
 */
export function assertBounded(
  fill: Fill,
  { start, end }: { readonly start?: string | undefined; readonly end?: string | undefined },
): void {
  if (fill === 'none') return
  if (start === undefined) throw invalidParameter('start', 'is needed with fill')
  if (end === undefined) throw invalidParameter('end', 'is needed with fill')
}

function rawFields(names: readonly string[], known: KnownFields): readonly string[] {
  for (const name of names) {
    if (known.has(name)) continue
    const [field = '', suffix] = name.split(':')
    if (suffix === undefined || !known.has(field)) throw unknownField(name, { known: known.keys() })
    throw invalidParameter('fields', `'${name}': functions need an aggregation other than raw`)
  }
  return names
}
