import type { FieldType } from '../../contracts/stream-schema.ts'
import { compareText } from '../../core/canonical-json.ts'
import { DomainError, invalidParameter } from '../../core/errors.ts'
import type { AggregateQuery, SeriesSelection } from '../../storage/time-series/aggregate-query.ts'
import { columnTypeOf } from '../../storage/time-series/shape.ts'
import {
  type SplitField,
  type SplitType,
  type SplitValue,
  splitValueOf,
} from '../../storage/time-series/split-series.ts'
import type { Tags } from '../../streams/data-streams/tags.ts'
import { parseAggregation, zoneParameter } from './aggregation.ts'
import { parseAggregateCursor } from './cursors.ts'
import { assertBounded } from './data-query.ts'
import { type KnownFields, parseFields, unknownField } from './fields.ts'
import type { QueriedStream } from './queried-streams.ts'
import type { QueryBody } from './query-api.ts'
import { timeRange } from './time-range.ts'
import { timeWeights } from './time-weights.ts'
import { type WindowsQuery, windowsQuery } from './window-query.ts'

/** Before the name of a tag or of a field, in `groupBy`. */
const tagPrefix = 'tag:'
const fieldPrefix = 'field:'

/** The tag that names the device of a stream of no fleet. */
const deviceTag = 'device'

/** Types of fields whose values can be series. */
const splitTypes: ReadonlySet<FieldType> = new Set(['string', 'integer', 'boolean'] as const)

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
  assertOwnKeys(groupBy, body.fields)
  const groups = groupsOf(groupBy, streams)
  return {
    series: seriesOf(groups),
    splitBy: splitFieldOf(groupBy, streams),
    timeWeights: timeWeights([...groups.values()], nowUs),
    ...timeRange(start, end),
    order,
    buckets,
    // Where there is no stream there is no telling what is a field.
    fields:
      streams.length === 0
        ? []
        : parseFields(body.fields, unitedFields(body.fields, streams, 'fields')),
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

/**
 * What has not got the tag, or no device, is a series of its own: that is an empty text, which is no tag. Streams that
 * a field divides are one group.
 */
function groupsOf(
  groupBy: string,
  streams: readonly QueriedStream[],
): ReadonlyMap<string, readonly QueriedStream[]> {
  const tag = groupBy.startsWith(tagPrefix) ? groupBy.slice(tagPrefix.length) : undefined
  const keyOf = ({ id, tags, device }: QueriedStream) => {
    if (tag !== undefined) return tagOf(tags, tag)
    if (groupBy === 'device') return device ?? tagOf(tags, deviceTag)
    return groupBy === 'stream' ? id : ''
  }
  return Map.groupBy(streams, keyOf)
}

function tagOf(tags: Tags, name: string): string {
  return Object.hasOwn(tags, name) ? (tags[name] ?? '') : ''
}

/** @throws DomainError `invalid_request` for an unknown field, `unsupported_query` for one of another type */
function splitFieldOf(groupBy: string, streams: readonly QueriedStream[]): SplitField | undefined {
  if (!groupBy.startsWith(fieldPrefix) || streams.length === 0) return undefined
  const name = groupBy.slice(fieldPrefix.length)
  const type = unitedFields([name], streams, 'groupBy').get(name)
  if (type === undefined) {
    const known = new Set(streams.flatMap(({ fields }) => [...fields.keys()]))
    throw unknownField(name, { path: 'groupBy', known })
  }
  if (splitTypes.has(type)) return { name, type: columnTypeOf(type) as SplitType }
  throw unsupported('groupBy', `'${name}': groupBy takes no field of type ${type}`)
}

/**
 * A point has the name of its series under a key of its own, which no field can have beside it.
 *
 * @throws DomainError `invalid_request`
 */
function assertOwnKeys(groupBy: string, fields: readonly string[]): void {
  const [key = ''] = groupKeyOf(groupBy)
  if (!fields.includes(key)) return
  const message = `'${key}': points have the name of their series there; write a function, such as ${key}:latest`
  throw invalidParameter('fields', message)
}

/** The key of what tells the series of a point; none where there is one series. */
function groupKeyOf(groupBy: string): readonly string[] {
  if (groupBy === 'time') return []
  if (groupBy === 'stream') return ['streamId']
  return [groupBy.split(':', 1)[0] ?? '']
}

function seriesOf(groups: ReadonlyMap<string, readonly QueriedStream[]>): SeriesSelection[] {
  return [...groups]
    .map(([key, own]) => ({ key, streamIds: own.map(({ id }) => id).sort() }))
    .sort((left, right) => compareText(left.key, right.key))
}

/** What tells the series of a point in an answer, by the key of the series. */
export function seriesBodies(
  { groupBy = 'stream' }: Pick<QueryBody, 'groupBy'>,
  { splitBy }: Pick<AggregateQuery, 'splitBy'>,
): (key: string) => Readonly<Record<string, SplitValue>> {
  const [name] = groupKeyOf(groupBy)
  if (name === undefined) return () => ({})
  if (splitBy) return (key) => ({ [name]: splitValueOf(key, splitBy.type) })
  return (key) => ({ [name]: key === '' ? null : key })
}

/**
 * The fields of all streams, by name. Numbers of either kind go together.
 *
 * @throws DomainError `unsupported_query` for one that is asked for and is of different types
 */
function unitedFields(
  asked: readonly string[],
  streams: readonly QueriedStream[],
  path: 'fields' | 'groupBy',
): KnownFields {
  const united = new Map<string, FieldType>()
  for (const name of new Set(asked.map((key) => key.split(':', 1)[0] ?? ''))) {
    const types = new Set(streams.flatMap(({ fields }) => fields.get(name) ?? []))
    const isNumeric = types.size === 2 && types.has('number') && types.has('integer')
    if (types.size > 1 && !isNumeric) {
      const message = `'${name}' is of different types in these streams: ${[...types].sort().join(', ')}`
      throw unsupported(path, message)
    }
    const [type] = types
    if (type !== undefined) united.set(name, isNumeric ? 'number' : type)
  }
  return united
}

function unsupported(path: string, message: string): DomainError {
  return new DomainError('unsupported_query', message, { details: [{ path, message }] })
}
