import type { FastifyPluginAsync } from 'fastify'
import { DomainError } from '../core/errors.ts'
import { parseId, type StreamId, type UserId } from '../core/ids.ts'
import { streamFilter } from '../data-streams/stream-filter.ts'
import type { CallerOf } from '../http/server.ts'
import type { Posts } from '../idempotency/posts.ts'
import { visibleVault } from '../vaults/vault-routes.ts'
import type { VaultStore } from '../vaults/vault-store.ts'
import { encodeAggregateCursor } from './cursors.ts'
import { type QueriedStore, storeErrors } from './data-routes.ts'
import { aggregateBody } from './point-body.ts'
import type { QueriedStream, QueriedStreams } from './queried-streams.ts'
import { type QueryBody, seriesBody, streamsQuery } from './query-body.ts'
import { queryStreams, streamsMax } from './query-schemas.ts'
import type { QueryShare } from './query-share.ts'
import { rangeBody } from './time-range.ts'

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

/** Questions about many streams at once (D60). */
export function queryRoutes(needs: QueryRoutesNeeds): FastifyPluginAsync {
  const { store, posts, nowUs, callerOf } = needs
  return async (app) => {
    app.addHook('preHandler', needs.share.hook(callerOf))
    app.post<QueryStreams>('/query', options, async (request, reply) => {
      const { userId } = callerOf(request)
      const { body } = request
      return await posts.answer({ request, reply, userId }, async () => {
        const query = streamsQuery(body, await selectedStreams(needs, userId, body), nowUs())
        const { points, next } = await store.aggregate(query)
        const { aggregation, groupBy = 'stream' } = body
        const answer = {
          ...rangeBody(query),
          aggregation,
          groupBy,
          data: points.map((point) => aggregateBody(point, seriesBody(groupBy, point.series))),
          nextCursor: next ? encodeAggregateCursor(next) : null,
        }
        return { statusCode: 200, body: answer, changes: [] }
      })
    })
  }
}

/**
 * Streams of the caller, and of nobody else.
 *
 * @throws DomainError `not_found` for ids that are unknown or somebody else's alike (D5),
 *   `too_many_points` for too many streams
 */
async function selectedStreams(
  { queried, vaults }: QueryRoutesNeeds,
  userId: UserId,
  { streamIds, vaultId, name, tags = {} }: QueryBody,
): Promise<readonly QueriedStream[]> {
  if (vaultId !== undefined) await visibleVault(vaults, userId, vaultId)
  const ids = streamIds && (await knownIds(queried, userId, streamIds))
  const tagged = Object.entries(tags).map(([key, value]) => [`tag.${key}`, value])
  const filter = streamFilter({
    ...(vaultId !== undefined && { vaultId }),
    ...(name !== undefined && { name }),
    ...(Object.fromEntries(tagged) as object),
  })
  const found = await queried.select(userId, { ids, filter }, streamsMax + 1)
  if (found.length <= streamsMax) return found
  throw new DomainError('too_many_points', `a query takes at most ${streamsMax} streams`)
}

async function knownIds(
  queried: QueriedStreams,
  userId: UserId,
  texts: readonly string[],
): Promise<readonly StreamId[]> {
  const ids = [...new Set(texts.map((text) => parseId<StreamId>(text) ?? (text as StreamId)))]
  const known = await queried.known(userId, ids)
  const unknown = ids.find((id) => !known.has(id))
  if (unknown === undefined) return ids
  throw new DomainError('not_found', `no stream ${unknown}`)
}
