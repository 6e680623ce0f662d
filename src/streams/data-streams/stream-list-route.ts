import type { FastifyPluginAsync } from 'fastify'
import { invalidParameter } from '../../core/errors.ts'
import { linkNext, refuseCursor } from '../../requests/http/pagination.ts'
import { cursorLimitDefault } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { halfOf, twoHalvesOf } from '../../requests/operations/two-halves.ts'
import type { AssetStreamHalves } from '../../twins/asset-streams/asset-stream-routes.ts'
import { listedBody } from './stream-body.ts'
import { listFilter, sourceFilter } from './stream-filter.ts'
import { type HealthNeeds, healthOf } from './stream-health.ts'
import { healthMax, listedStreams, streamsQuery } from './stream-list-api.ts'
import { decodeStreamCursor, encodeStreamCursor, type StreamSort } from './stream-order.ts'
import { type PageNeeds, type PageWish, pageOfStreams } from './stream-page.ts'
import { isFailing, type StreamSources } from './stream-sources.ts'

export interface StreamListRouteNeeds extends PageNeeds, HealthNeeds {
  /** What the operation means to a key. */
  readonly assetHalves: Pick<AssetStreamHalves, 'list'>
  readonly sources: Pick<StreamSources, 'failing' | 'statusOf'>
  readonly posts: Posts
  readonly callerOf: CallerOf
  readonly publicUrl: string
  readonly nowUs: () => number
}

/** The list of data streams, or of asset streams. */
export function streamListRoute(needs: StreamListRouteNeeds): FastifyPluginAsync {
  const { assetHalves, sources, publicUrl } = needs
  return async (app) => {
    const add = twoHalvesOf(app, { ...needs, tags: ['Streams'] })

    add('GET /streams', {
      operationId: 'listStreams',
      summary: "List one's own data streams, or asset streams.",
      scope: 'streams:read',
      key: assetHalves.list,
      bearer: halfOf<'GET /streams'>()({
        description: [
          "One's own data streams. Filters can be combined; a stream has to meet all of them.",
          '`tag.NAME=VALUE` finds streams by their tags, and may come for several tags. In the order of',
          'creation, or of the name, a walk from page to page meets each stream once, even if streams are made or',
          'deleted meanwhile.',
        ].join(' '),
        query: streamsQuery,
        answers: { 200: listedStreams },
        errors: ['unsupported_query'],
        handler: async ({ caller, query, request, reply }) => {
          const filter = {
            ...listFilter(query, needs),
            ...(await sourceFilter(query, needs, caller.userId)),
          }
          const wish = { filter, ...pageWish(query) }
          const { streams, total, next } = await pageOfStreams(needs, caller.userId, wish)
          if (total !== undefined) void reply.header('x-total-count', total)
          if (next) linkNext(encodeStreamCursor(next), { request, reply })
          const health = query.include === 'health' ? await healthOf(needs, streams) : undefined
          return streams.map((stream) => ({
            ...listedBody({ ...stream, isFailing: isFailing(sources, stream.id) }, publicUrl),
            ...health?.get(stream.id),
          }))
        },
      }),
    })
  }
}

interface Query {
  readonly sort?: StreamSort
  readonly cursor?: string
  readonly limit?: number
  readonly include?: 'health'
}

/** @throws DomainError `invalid_request` */
function pageWish({
  sort = 'created',
  cursor: text,
  limit = cursorLimitDefault,
  include,
}: Query): Omit<PageWish, 'filter'> {
  if (include === 'health' && limit > healthMax) {
    throw invalidParameter('limit', `must be at most ${healthMax} with include=health`)
  }
  const cursor = text === undefined ? undefined : decodeStreamCursor(text, sort)
  if (text !== undefined && cursor === undefined) refuseCursor()
  return { sort, cursor, limit }
}
