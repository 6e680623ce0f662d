import type { FastifyPluginAsync } from 'fastify'
import type { UserId } from '../../core/ids.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import type { VaultStore } from '../../twins/vaults/vault-store.ts'
import { encodeAggregateCursor } from './cursors.ts'
import { type QueriedStore, storeErrors } from './data-routes.ts'
import { aggregateBody } from './point-body.ts'
import type { QueriedStream, QueriedStreams } from './queried-streams.ts'
import { type QueryBody, seriesBody, streamsQuery, streamWindowsQuery } from './query-body.ts'
import { queryStreams } from './query-schemas.ts'
import type { QueryShare } from './query-share.ts'
import { selectedStreams } from './selected-streams.ts'
import { rangeBody } from './time-range.ts'
import { encodeWindowCursor, windowBody } from './window-query.ts'

export interface QueryRoutesNeeds {
  readonly share: QueryShare
  readonly queried: QueriedStreams
  readonly vaults: VaultStore
  readonly store: QueriedStore
  readonly posts: Posts
  readonly nowUs: () => number
  readonly callerOf: CallerOf
}

interface QueryStreams {
  Body: QueryBody
}

const options = {
  schema: queryStreams,
  config: { scope: 'data:read', errors: [...storeErrors, 'not_found'] },
} as const

/** Questions about many streams at once. */
export function queryRoutes(needs: QueryRoutesNeeds): FastifyPluginAsync {
  const { share, posts, callerOf } = needs
  return async (app) => {
    app.post<QueryStreams>('/query', options, async (request, reply) => {
      const { userId } = callerOf(request)
      return await posts.answer({ request, reply, userId }, async () => {
        const body = await share.during(userId, () => answer(needs, userId, request.body))
        return { statusCode: 200, body, changes: [] }
      })
    })
  }
}

async function answer(needs: QueryRoutesNeeds, userId: UserId, body: QueryBody): Promise<object> {
  const { store, nowUs } = needs
  const streams = await selectedStreams(needs, userId, body)
  if (body.aggregation === 'window') return await windowsAnswer(store, body, streams)
  const query = streamsQuery(body, streams, nowUs())
  const { points, next } = await store.aggregate(query)
  const { aggregation, groupBy = 'stream' } = body
  return {
    ...rangeBody(body),
    aggregation,
    groupBy,
    data: points.map((point) => aggregateBody(point, seriesBody(groupBy, point.series))),
    nextCursor: next ? encodeAggregateCursor(next) : null,
  }
}

async function windowsAnswer(
  store: QueriedStore,
  body: QueryBody,
  streams: readonly QueriedStream[],
): Promise<object> {
  const query = streamWindowsQuery(body, streams)
  const { points, next } = await store.windows(query)
  return {
    ...rangeBody(body),
    aggregation: body.aggregation,
    groupBy: 'stream',
    data: points.map((point) => windowBody(point, query.fields, { streamId: point.streamId })),
    nextCursor: next ? encodeWindowCursor(next) : null,
  }
}
