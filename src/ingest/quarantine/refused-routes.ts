import type { FastifyPluginAsync } from 'fastify'
import { integerParameter } from '../../requests/http/pagination.ts'
import { cursorLimitDefault } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import type {
  RefusedReadingsPage,
  RefusedReadingsQuery,
} from '../../storage/time-series/refused-readings.ts'
import { ownStream } from '../../streams/data-streams/data-stream-routes.ts'
import type { DataStreamStore } from '../../streams/data-streams/data-stream-store.ts'
import { refusedBody, refusedQuery, refusedSchema } from './refused-api.ts'

/** Values of one page. */
const pageBytesMax = 4 * 1024 * 1024

interface RefusedRoutesNeeds {
  readonly streams: DataStreamStore
  readonly worker: { refusedReadings(query: RefusedReadingsQuery): Promise<RefusedReadingsPage> }
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** Readings that were acknowledged, and that a server of time series did not take. */
export function refusedRoutes(needs: RefusedRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Readings'] })
    add('GET /streams/:streamId/refused', {
      operationId: 'listRefusedReadings',
      summary: 'List readings that the time-series server did not take, oldest first.',
      description:
        'They were acknowledged and are counted as `discarded`. The newest 10,000 of all streams are kept. DuckDB refuses no readings.',
      scope: 'data:read',
      query: refusedQuery,
      answers: { 200: refusedSchema },
      handler: async ({ caller, params, query }) => {
        const { id } = await ownStream(needs, caller.userId, params.streamId)
        const { limit = cursorLimitDefault } = query
        const after = integerParameter(query, 'cursor', {
          fallback: -1,
          min: 0,
          max: Number.MAX_SAFE_INTEGER,
        })
        const asked = { streamId: id, after, limit, bytesMax: pageBytesMax }
        const { readings, hasMore } = await needs.worker.refusedReadings(asked)
        return {
          streamId: id,
          readings: readings.map(refusedBody),
          nextCursor: hasMore ? String(readings.at(-1)?.entry) : null,
        }
      },
    })
  }
}
