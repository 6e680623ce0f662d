import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import type { UserId } from '../../core/ids.ts'
import { settledRange } from '../../requests/http/asked-range.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import type { VaultStore } from '../../twins/vaults/vault-store.ts'
import { encodeAggregateCursor } from './cursors.ts'
import { aggregateBody } from './data-api.ts'
import { storeErrors } from './data-routes.ts'
import type { QueriedStore } from './queried-store.ts'
import type { QueriedStream, QueriedStreams } from './queried-streams.ts'
import { type QueryBody, queriedStreamsMax, queryPageSchema, querySchema } from './query-api.ts'
import { seriesBodies, streamsQuery, streamWindowsQuery } from './query-body.ts'
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

/** Questions about many streams at once. */
export function queryRoutes(needs: QueryRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Readings'] })
    add('POST /query', {
      operationId: 'queryStreams',
      summary: 'Aggregate the readings of many data streams at once.',
      description: `Of all your streams, or of those that meet all of \`streamIds\`, \`vaultId\`, \`fleetId\`, \`name\` and \`tags\`: ${queriedStreamsMax} at most. Points come in the order of time, and at one time by stream, device, tag or value.`,
      scope: 'data:read',
      body: querySchema,
      answers: { 200: queryPageSchema },
      errors: [...storeErrors, 'not_found'],
      effect: async ({ caller: { userId }, body: asked }) => {
        const body = await needs.share.during(userId, () =>
          answer(needs, userId, { ...asked, ...settledRange(asked, needs.nowUs()) }),
        )
        return { statusCode: 200, body, changes: [] } as const
      },
    })
  }
}

type QueryPage = Static<typeof queryPageSchema>

async function answer(
  needs: QueryRoutesNeeds,
  userId: UserId,
  body: QueryBody,
): Promise<QueryPage> {
  const { store, nowUs } = needs
  const streams = await selectedStreams(needs, userId, body, queriedStreamsMax)
  if (body.aggregation === 'window') return await windowsAnswer(store, body, streams)
  const query = streamsQuery(body, streams, nowUs())
  const { points, next } = await store.aggregate(query)
  const seriesOf = seriesBodies(body, query)
  const { aggregation, groupBy = 'stream' } = body
  return {
    ...rangeBody(body),
    aggregation,
    groupBy,
    data: points.map((point) => aggregateBody(point, seriesOf(point.series))),
    nextCursor: body.nextCursor(next ? encodeAggregateCursor(next) : null),
  }
}

async function windowsAnswer(
  store: QueriedStore,
  body: QueryBody,
  streams: readonly QueriedStream[],
): Promise<QueryPage> {
  const query = streamWindowsQuery(body, streams)
  const { points, next } = await store.windows(query)
  return {
    ...rangeBody(body),
    aggregation: body.aggregation,
    groupBy: 'stream',
    data: points.map((point) => windowBody(point, query.fields, { streamId: point.streamId })),
    nextCursor: body.nextCursor(next ? encodeWindowCursor(next) : null),
  }
}
