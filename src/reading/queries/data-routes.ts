import type { Readable } from 'node:stream'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { UserId } from '../../core/ids.ts'
import { chooseType } from '../../requests/http/accept.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { AggregatePage, AggregateQuery } from '../../storage/time-series/aggregate-query.ts'
import type { ReadingsPage, ReadingsQuery } from '../../storage/time-series/time-series-store.ts'
import type { StoredWindowsQuery } from '../../storage/time-series/windows/window-store.ts'
import { ownStream } from '../../streams/data-streams/data-stream-routes.ts'
import type { DataStream, DataStreamStore } from '../../streams/data-streams/data-stream-store.ts'
import {
  type Exchange,
  type ExportNeeds,
  type ExportType,
  exportedReadings,
  readingsTypes,
} from '../../streams/data-streams/export-route.ts'
import { pointBody } from '../../streams/data-streams/readings-text.ts'
import type { WindowsPage } from '../windows/read-windows.ts'
import { exportedAggregates } from './aggregate-export.ts'
import { encodeAggregateCursor, encodeReadingsCursor } from './cursors.ts'
import { type DataParameters, type DataQuery, dataQuery } from './data-query.ts'
import { readReadings } from './data-schemas.ts'
import { aggregateBody } from './point-body.ts'
import type { QueriedStreams } from './queried-streams.ts'
import type { QueryShare } from './query-share.ts'
import { rangeBody } from './time-range.ts'
import { timeWeights } from './time-weights.ts'
import { exportedWindows } from './window-export.ts'
import { encodeWindowCursor, windowBody } from './window-query.ts'

/** Where answers come from. */
export interface QueriedStore {
  /** @throws DomainError `store_unavailable`, `overloaded`, `query_too_slow` */
  query(query: ReadingsQuery): Promise<ReadingsPage>
  /** @throws DomainError, the same and `too_many_points` */
  aggregate(query: AggregateQuery): Promise<AggregatePage>
  /** @throws DomainError as `query` */
  windows(query: StoredWindowsQuery): Promise<WindowsPage>
}

export interface DataRoutesNeeds extends ExportNeeds {
  readonly share: QueryShare
  readonly streams: DataStreamStore
  readonly queried: QueriedStreams
  readonly store: QueriedStore
  readonly nowUs: () => number
  readonly callerOf: CallerOf
}

interface ReadData {
  Params: { streamId: string }
  Querystring: DataParameters
}

/** Failures of whatever asks the store. */
export const storeErrors = [
  'overloaded',
  'query_too_slow',
  'rate_limited',
  'store_unavailable',
  'too_many_points',
  'unsupported_query',
] as const

const readOptions = {
  schema: readReadings,
  config: { scope: 'data:read', errors: [...storeErrors, 'not_acceptable'] },
} as const

/** Reads back what is stored of one stream: as it was sent, or aggregated. */
export function dataRoutes(needs: DataRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    app.get<ReadData>('/streams/:streamId/data', readOptions, async (request, reply) => {
      const { userId } = needs.callerOf(request)
      return await needs.share.during(userId, () => answer(needs, userId, request, reply))
    })
  }
}

async function answer(
  needs: DataRoutesNeeds,
  userId: UserId,
  request: FastifyRequest<ReadData>,
  reply: FastifyReply,
): Promise<object | Readable> {
  const { queried } = needs
  const stream = await ownStream(needs, userId, request.params.streamId)
  const fields = await queried.fieldsOf(stream)
  const type = chooseType(request.headers.accept, readingsTypes)
  const form = type === 'application/json' ? 'page' : 'export'
  const weights = timeWeights([[stream]], needs.nowUs())
  const hasWindows = request.query.aggregation === 'window' && (await queried.hasWindows(stream))
  const asked = dataQuery(
    { id: stream.id, fields, timeWeights: weights, hasWindows },
    request.query,
    form,
  )
  if (type !== 'application/json') {
    const wanted = { userId, type, stream, known: fields.keys() }
    return await linesOf(needs, asked, wanted, { request, reply })
  }
  return {
    streamId: stream.id,
    ...rangeBody(request.query),
    aggregation: request.query.aggregation ?? 'raw',
    ...(await page(needs.store, asked)),
  }
}

interface WantedLines {
  readonly userId: UserId
  readonly type: ExportType
  readonly stream: DataStream
  readonly known: Iterable<string>
}

async function linesOf(
  needs: DataRoutesNeeds,
  asked: DataQuery,
  wanted: WantedLines,
  exchange: Exchange,
): Promise<Readable> {
  switch (asked.kind) {
    case 'raw':
      return await exportedReadings(needs, asked.query, wanted, exchange)
    case 'aggregated':
      return await exportedAggregates(needs, asked.query, wanted, exchange)
    case 'windows':
      return await exportedWindows(needs, asked.query, wanted, exchange)
    default:
      return asked satisfies never
  }
}

async function page(store: QueriedStore, asked: DataQuery) {
  if (asked.kind === 'raw') {
    const { fields } = asked.query
    const { points, next } = await store.query(asked.query)
    return {
      data: points.map((point) => pointBody(point, { fields, withExtra: fields.length === 0 })),
      nextCursor: next ? encodeReadingsCursor(next) : null,
    }
  }
  if (asked.kind === 'windows') {
    const { points, next } = await store.windows(asked.query)
    return {
      data: points.map((point) => windowBody(point, asked.query.fields)),
      nextCursor: next ? encodeWindowCursor(next) : null,
    }
  }
  const { points, next } = await store.aggregate(asked.query)
  return {
    data: points.map((point) => aggregateBody(point)),
    nextCursor: next ? encodeAggregateCursor(next) : null,
  }
}
