import type { FastifyPluginAsync } from 'fastify'
import { invalidParameter } from '../core/errors.ts'
import { formatUs, parseRfc3339 } from '../core/time.ts'
import { chooseType } from '../http/accept.ts'
import { type IntegerRule, integerParameter, refuseUnknownParameters } from '../http/pagination.ts'
import type { CallerOf } from '../http/server.ts'
import type {
  ReadingsCursor,
  ReadingsPage,
  ReadingsQuery,
} from '../time-series/time-series-store.ts'
import { ownStream } from './data-stream-routes.ts'
import type { DataStream, DataStreamStore } from './data-stream-store.ts'
import { type ExportNeeds, readingsTypes, sendExport } from './export-route.ts'
import { readReadings } from './readings-schemas.ts'
import { pointBody } from './readings-text.ts'

export interface ReadingsRoutesNeeds extends ExportNeeds {
  readonly streams: DataStreamStore
  /** @throws DomainError `store_unavailable` */
  readonly query: (query: ReadingsQuery) => Promise<ReadingsPage>
  readonly callerOf: CallerOf
}

type Query = Record<string, unknown>

interface StreamRequest {
  Params: { streamId: string }
  Querystring: Query
}

/** End of time for a query without an end: the last year that RFC 3339 can write. */
const endOfTimeUs = 253_402_300_800_000_000

const pageMax = 10_000

/** Bytes of readings in a page, about. A longer one would only keep others waiting. */
const pageBytesMax = 4 * 1024 * 1024

const digestMax = 2n ** 64n - 1n

/** Of a page, and of an answer as lines, which has none unless it is asked for. */
const pageLimits = { fallback: 1_000, min: 1, max: pageMax }
const exportLimits = {
  fallback: Number.MAX_SAFE_INTEGER,
  min: 1,
  max: Number.MAX_SAFE_INTEGER,
}

const readOptions = {
  schema: readReadings,
  config: {
    scope: 'data:read',
    errors: ['not_acceptable', 'overloaded', 'rate_limited', 'store_unavailable'],
  },
} as const

/** Reads back stored readings. */
export function readingsRoutes(needs: ReadingsRoutesNeeds): FastifyPluginAsync {
  const { callerOf } = needs
  return async (app) => {
    app.get<StreamRequest>('/streams/:streamId/data', readOptions, async (request, reply) => {
      const { userId } = callerOf(request)
      const stream = await ownStream(needs, userId, request.params.streamId)
      const type = chooseType(request.headers.accept, readingsTypes)
      if (type === 'application/json') {
        const query = readingsQuery(stream, request.query, pageLimits)
        return dataBody(query, await needs.query(query))
      }
      const query = readingsQuery(stream, request.query, exportLimits)
      return await sendExport(needs, query, { userId, type, stream }, { request, reply })
    })
  }
}

const parameters = ['start', 'end', 'fields', 'aggregation', 'limit', 'cursor']

function readingsQuery(stream: DataStream, query: Query, limits: IntegerRule): ReadingsQuery {
  refuseUnknownParameters(query, parameters)
  const startUs = instantParameter(query, 'start') ?? 0
  const endUs = instantParameter(query, 'end') ?? endOfTimeUs
  if (endUs < startUs) throw invalidParameter('end', 'must not be before start')
  const { aggregation = 'raw' } = query
  if (aggregation !== 'raw' && aggregation !== 'hourly') {
    throw invalidParameter('aggregation', 'must be raw or hourly')
  }
  return {
    streamId: stream.id,
    startUs,
    endUs,
    aggregation,
    fields: fieldsParameter(query['fields'], stream),
    limit: integerParameter(query, 'limit', limits),
    bytesMax: pageBytesMax,
    after: parseCursor(query['cursor']),
  }
}

function instantParameter(query: Query, name: string): number | undefined {
  const text = query[name]
  if (typeof text !== 'string') return undefined
  const instant = parseRfc3339(text)
  if (typeof instant === 'number') return Math.max(0, instant)
  throw invalidParameter(name, `must be an RFC 3339 date-time: ${instant.problem}`)
}

function fieldsParameter(text: unknown, { schema }: DataStream): readonly string[] {
  if (typeof text !== 'string') return []
  const names = text.split(',')
  for (const name of names) {
    if (!Object.hasOwn(schema, name)) {
      throw invalidParameter('fields', `the stream has no field '${name}'`)
    }
  }
  return names
}

function parseCursor(text: unknown): ReadingsCursor | undefined {
  if (typeof text !== 'string') return undefined
  const parts = Buffer.from(text, 'base64url').toString().split(' ')
  const [time = '', digest = '', span = '0'] = parts
  const isCursor =
    [time, span].every((part) => /^\d{1,16}$/.test(part)) && /^\d{1,20}$/.test(digest)
  if (!isCursor || BigInt(digest) > digestMax) {
    throw invalidParameter('cursor', 'must be a cursor from an answer of this operation')
  }
  const spanUs = Number(span)
  return { timestampUs: Number(time), digest: BigInt(digest), ...(spanUs > 0 && { spanUs }) }
}

function dataBody(query: ReadingsQuery, { points, next }: ReadingsPage): object {
  const { fields } = query
  const columns = { fields, withExtra: fields.length === 0 }
  const cursor = next && `${next.timestampUs} ${next.digest} ${next.spanUs ?? 0}`
  return {
    streamId: query.streamId,
    start: formatUs(query.startUs),
    end: query.endUs === endOfTimeUs ? null : formatUs(query.endUs),
    aggregation: query.aggregation,
    data: points.map((point) => ({
      ...pointBody(point, columns),
      ...(point.count !== undefined && { count: point.count }),
    })),
    nextCursor: cursor === undefined ? null : Buffer.from(cursor).toString('base64url'),
  }
}
