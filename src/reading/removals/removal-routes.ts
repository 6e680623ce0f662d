import type { FastifyPluginAsync } from 'fastify'
import { settledRange } from '../../requests/http/asked-range.ts'
import { noContent } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import { ownStream } from '../../streams/data-streams/data-stream-routes.ts'
import {
  type DataStreamStore,
  streamVersionOf,
} from '../../streams/data-streams/data-stream-store.ts'
import { rangeBody, timeRange } from '../queries/time-range.ts'
import { acceptedRemovalSchema, removalQuery } from './removal-api.ts'
import type { Removals } from './removals.ts'

export interface RemovalRoutesNeeds {
  readonly streams: DataStreamStore
  readonly removals: Removals
  readonly nowUs: () => number
  readonly callerOf: CallerOf
}

/** Removes stored readings (decisions.md#answers-with-readings). */
export function removalRoutes(needs: RemovalRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Readings'] })
    add('DELETE /streams/:streamId/data', {
      operationId: 'removeReadings',
      summary: 'Remove the readings of a range of time from a data stream.',
      description:
        'Removes exactly the readings in [start, end) that were acknowledged before. What is sent later stays, also when it equals a removed reading.',
      scope: 'data:write',
      query: removalQuery,
      answers: { 204: noContent, 202: acceptedRemovalSchema },
      errors: ['journal_full', 'journal_unavailable', 'overloaded', 'rate_limited'],
      handler: async ({ caller, params, query, reply }) => {
        const stream = await ownStream(needs, caller.userId, params.streamId)
        const asked = settledRange(query, needs.nowUs())
        const range = timeRange(asked.start, asked.end)
        const version = streamVersionOf(stream)
        if (await needs.removals.remove(caller.userId, version, range)) return null
        const body = { streamId: stream.id, ...rangeBody(asked), status: 'accepted' }
        return reply.code(202).send(body)
      },
    })
  }
}
