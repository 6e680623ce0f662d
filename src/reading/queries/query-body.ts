import type { FieldType } from '../../contracts/stream-schema.ts'
import { compareText } from '../../core/canonical-json.ts'
import { DomainError, invalidParameter } from '../../core/errors.ts'
import type { AggregateQuery, SeriesSelection } from '../../storage/time-series/aggregate-query.ts'
import { parseAggregation, zoneParameter } from './aggregation.ts'
import { parseAggregateCursor } from './cursors.ts'
import { assertBounded } from './data-query.ts'
import { type KnownFields, parseFields } from './fields.ts'
import type { QueriedStream } from './queried-streams.ts'
import type { QueryBody } from './query-api.ts'
import { timeRange } from './time-range.ts'
import { timeWeights } from './time-weights.ts'
import { type WindowsQuery, windowsQuery } from './window-query.ts'

/** Before the name of a tag, in `groupBy`. */
const tagPrefix = 'tag:'

/** @throws DomainError `invalid_request`, `unsupported_query` */
export function streamsQuery(
  body: QueryBody,
  streams: readonly QueriedStream[],
  nowUs: number,
): AggregateQuery {
  const {
    start,
    end,
    order,
    aggregation,
    tz,
    fill = 'none',
    groupBy = 'stream',
    limit = 1_000,
  } = body
  const buckets = parseAggregation(aggregation, zoneParameter(tz))
  if (!buckets) {
    throw invalidParameter('aggregation', 'must not be raw: read streams as they are one by one')
  }
  assertBounded(fill, body)
  const groups = groupsOf(groupBy, streams)
  return {
    series: seriesOf(groups),
    timeWeights: timeWeights([...groups.values()], nowUs),
    ...timeRange(start, end),
    order,
    buckets,
    // Where there is no stream there is no telling what is a field.
    fields:
      streams.length === 0 ? [] : parseFields(body.fields, unitedFields(body.fields, streams)),
    fill,
    limit,
    after: parseAggregateCursor(body.cursor),
  }
}

/**
 * Windows are those of streams, so they are not brought together. A stream that has none, has no points.
 *
 * @throws DomainError `invalid_request`
 */
export function streamWindowsQuery(
  body: QueryBody,
  streams: readonly QueriedStream[],
): WindowsQuery {
  const { groupBy = 'stream', limit = 1_000, fields } = body
  if (groupBy !== 'stream') {
    throw invalidParameter('groupBy', 'must be stream: windows are not brought together')
  }
  const known = new Map(streams.flatMap((stream) => [...stream.fields]))
  const streamIds = streams.map(({ id }) => id).sort()
  return windowsQuery({ streamIds, fields, known, limit }, body)
}

/** What has not got the tag is a series of its own: no tag is an empty text. */
function groupsOf(
  groupBy: string,
  streams: readonly QueriedStream[],
): ReadonlyMap<string, readonly QueriedStream[]> {
  const tag = groupBy.startsWith(tagPrefix) ? groupBy.slice(tagPrefix.length) : undefined
  const keyOf = ({ id, tags }: QueriedStream) => {
    if (tag !== undefined) return Object.hasOwn(tags, tag) ? (tags[tag] ?? '') : ''
    return groupBy === 'stream' ? id : ''
  }
  return Map.groupBy(streams, keyOf)
}

function seriesOf(groups: ReadonlyMap<string, readonly QueriedStream[]>): SeriesSelection[] {
  return [...groups]
    .map(([key, own]) => ({ key, streamIds: own.map(({ id }) => id).sort() }))
    .sort((left, right) => compareText(left.key, right.key))
}

/** What tells the series of a point in an answer. */
export function seriesBody(groupBy: string, key: string): Readonly<Record<string, string | null>> {
  if (groupBy === 'stream') return { streamId: key }
  if (groupBy === 'time') return {}
  return { tag: key === '' ? null : key }
}

/**
 * The fields of all streams, by name. Numbers of either kind go together.
 *
 * @throws DomainError `unsupported_query` for one that is asked for and is of different types
 */
function unitedFields(asked: readonly string[], streams: readonly QueriedStream[]): KnownFields {
  const united = new Map<string, FieldType>()
  for (const name of new Set(asked.map((key) => key.split(':', 1)[0] ?? ''))) {
    const types = new Set(streams.flatMap(({ fields }) => fields.get(name) ?? []))
    const isNumeric = types.size === 2 && types.has('number') && types.has('integer')
    if (types.size > 1 && !isNumeric) {
      const message = `'${name}' is of different types in these streams: ${[...types].sort().join(', ')}`
      throw new DomainError('unsupported_query', message, {
        details: [{ path: 'fields', message }],
      })
    }
    const [type] = types
    if (type !== undefined) united.set(name, isNumeric ? 'number' : type)
  }
  return united
}
