import type { FastifyPluginAsync } from 'fastify'
import { ownStream } from '../data-streams/data-stream-routes.ts'
import type { DataStreamStore } from '../data-streams/data-stream-store.ts'
import { type ExportNeeds, readingsTypes, sendExport } from '../data-streams/export-route.ts'
import { pointBody } from '../data-streams/readings-text.ts'
import { chooseType } from '../http/accept.ts'
import type { CallerOf } from '../http/server.ts'
import type { AggregatePage, AggregateQuery } from '../time-series/aggregate-query.ts'
import type { ReadingsPage, ReadingsQuery } from '../time-series/time-series-store.ts'
import { sendAggregates } from './aggregate-export.ts'
import { encodeAggregateCursor, encodeReadingsCursor } from './cursors.ts'
import { type DataParameters, type DataQuery, dataQuery } from './data-query.ts'
import { readReadings } from './data-schemas.ts'
import { aggregateBody } from './point-body.ts'
import type { QueriedStreams } from './queried-streams.ts'
import type { QueryShare } from './query-share.ts'
import { rangeBody } from './time-range.ts'
import { timeWeights } from './time-weights.ts'

/** Where answers come from. */
export interface QueriedStore {
  /** @throws DomainError `store_unavailable`, `overloaded`, `query_too_slow` */
  query(query: ReadingsQuery): Promise<ReadingsPage>
  /** @throws DomainError, the same and `too_many_points` */
  aggregate(query: AggregateQuery): Promise<AggregatePage>
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
  const { queried, callerOf } = needs
  return async (app) => {
    app.addHook('preHandler', needs.share.hook(callerOf))
    app.get<ReadData>('/streams/:streamId/data', readOptions, async (request, reply) => {
      const { userId } = callerOf(request)
      const stream = await ownStream(needs, userId, request.params.streamId)
      const fields = await queried.fieldsOf(stream)
      const type = chooseType(request.headers.accept, readingsTypes)
      const form = type === 'application/json' ? 'page' : 'export'
      const asked = dataQuery(
        { id: stream.id, fields, timeWeights: timeWeights([[stream]], needs.nowUs()) },
        request.query,
        form,
      )
      if (type !== 'application/json') {
        const exchange = { request, reply }
        return asked.kind === 'raw'
          ? await sendExport(needs, asked.query, { userId, type, stream }, exchange)
          : await sendAggregates(needs, asked.query, { userId, type }, exchange)
      }
      return {
        streamId: stream.id,
        ...rangeBody(asked.query),
        aggregation: request.query.aggregation ?? 'raw',
        ...(await page(needs.store, asked)),
      }
    })
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
  const { points, next } = await store.aggregate(asked.query)
  return {
    data: points.map((point) => aggregateBody(point)),
    nextCursor: next ? encodeAggregateCursor(next) : null,
  }
}
