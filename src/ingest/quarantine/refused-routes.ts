import type { FastifyPluginAsync } from 'fastify'
import { formatUs } from '../../core/time.ts'
import { integerParameter } from '../../requests/http/pagination.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type {
  RefusedReadingsPage,
  RefusedReadingsQuery,
} from '../../storage/time-series/refused-readings.ts'
import { ownStream } from '../../streams/data-streams/data-stream-routes.ts'
import type { DataStreamStore } from '../../streams/data-streams/data-stream-store.ts'
import { listRefused } from './refused-schemas.ts'

/** Values of one page. */
const pageBytesMax = 4 * 1024 * 1024

interface RefusedRoutesNeeds {
  readonly streams: DataStreamStore
  readonly worker: { refusedReadings(query: RefusedReadingsQuery): Promise<RefusedReadingsPage> }
  readonly callerOf: CallerOf
}

interface OfStream {
  Params: { streamId: string }
  Querystring: Readonly<Record<string, unknown>>
}

/** Readings that were acknowledged, and that a server of time series did not take. */
export function refusedRoutes(needs: RefusedRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    app.get<OfStream>(
      '/streams/:streamId/refused',
      { schema: listRefused, config: { scope: 'data:read' } },
      async (request) => {
        const { userId } = needs.callerOf(request)
        const { id } = await ownStream(needs, userId, request.params.streamId)
        const limit = integerParameter(request.query, 'limit', {
          fallback: 100,
          min: 1,
          max: 1_000,
        })
        const after = integerParameter(request.query, 'cursor', {
          fallback: -1,
          min: 0,
          max: Number.MAX_SAFE_INTEGER,
        })
        const query = { streamId: id, after, limit, bytesMax: pageBytesMax }
        const { readings, hasMore } = await needs.worker.refusedReadings(query)
        return {
          streamId: id,
          readings: readings.map(({ entry, timestampUs, values, message }) => ({
            id: entry,
            timestamp: formatUs(timestampUs),
            values: JSON.parse(values) as unknown,
            message,
          })),
          nextCursor: hasMore ? String(readings.at(-1)?.entry) : null,
        }
      },
    )
  }
}
