import type { FastifyPluginAsync } from 'fastify'
import type { CallerOf } from '../../requests/http/server.ts'
import { ownStream } from '../../streams/data-streams/data-stream-routes.ts'
import {
  type DataStreamStore,
  streamVersionOf,
} from '../../streams/data-streams/data-stream-store.ts'
import { rangeBody, timeRange } from '../queries/time-range.ts'
import { removeReadings } from './removal-schemas.ts'
import type { Removals } from './removals.ts'

export interface RemovalRoutesNeeds {
  readonly streams: DataStreamStore
  readonly removals: Removals
  readonly callerOf: CallerOf
}

interface RemoveReadings {
  Params: { streamId: string }
  Querystring: { start: string; end: string }
}

const removeOptions = {
  schema: removeReadings,
  config: {
    scope: 'data:write',
    errors: ['journal_full', 'journal_unavailable', 'overloaded', 'rate_limited'],
  },
} as const

/**
 * Removes stored readings (decisions.md#answers-with-readings). Both ends have to be said: nobody
 * removes all by leaving one out.
 */
export function removalRoutes(needs: RemovalRoutesNeeds): FastifyPluginAsync {
  const { removals, callerOf } = needs
  return async (app) => {
    app.delete<RemoveReadings>('/streams/:streamId/data', removeOptions, async (request, reply) => {
      const { userId } = callerOf(request)
      const stream = await ownStream(needs, userId, request.params.streamId)
      const range = timeRange(request.query.start, request.query.end)
      const isDone = await removals.remove(userId, streamVersionOf(stream), range)
      if (isDone) return reply.code(204).send()
      const body = { streamId: stream.id, ...rangeBody(request.query) }
      return reply.code(202).send({ ...body, status: 'accepted' })
    })
  }
}
