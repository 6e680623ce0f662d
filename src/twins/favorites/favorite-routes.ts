import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { type FavoriteId, parseId, type UserId } from '../../core/ids.ts'
import { envelope, pageRequest, sliceOf } from '../../requests/http/pagination.ts'
import type { QueryOf } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { favoriteBody, favoritesMax, type NewFavorite } from './favorite.ts'
import { createFavorite, deleteFavorite, listFavorites } from './favorite-schemas.ts'
import type { FavoriteStore } from './favorite-store.ts'

export interface FavoriteRoutesNeeds {
  readonly favorites: FavoriteStore
  readonly posts: Posts
  readonly callerOf: CallerOf
}

interface OneUser {
  Params: { userId: string }
}

interface ListFavorites extends OneUser {
  Querystring: QueryOf<typeof listFavorites.querystring>
}

interface CreateFavorite extends OneUser {
  Body: NewFavorite
}

interface OneFavorite {
  Params: { userId: string; favoriteId: string }
}

export function favoriteRoutes(needs: FavoriteRoutesNeeds): FastifyPluginAsync {
  const { favorites, callerOf } = needs
  return async (app) => {
    app.get<ListFavorites>(
      '/users/:userId/favorites',
      { schema: listFavorites, config: { scope: 'vaults:read' } },
      async (request) => {
        const userId = assertOneself(callerOf(request).userId, request.params.userId)
        const page = pageRequest(request.query)
        const found = await favorites.list(userId, sliceOf(page))
        return envelope(found.favorites.map(favoriteBody), found.total, page)
      },
    )

    app.post<CreateFavorite>(
      '/users/:userId/favorites',
      { schema: createFavorite, config: { scope: 'vaults:write', errors: ['conflict'] } },
      (request, reply) => create(needs, request, reply),
    )

    app.delete<OneFavorite>(
      '/users/:userId/favorites/:favoriteId',
      { schema: deleteFavorite, config: { scope: 'vaults:write' } },
      async (request, reply) => {
        const { params } = request
        const userId = assertOneself(callerOf(request).userId, params.userId)
        const id = parseId<FavoriteId>(params.favoriteId)
        const isRemoved = id !== undefined && (await favorites.remove(userId, id))
        if (!isRemoved) throw new DomainError('not_found', `no favorite ${params.favoriteId}`)
        return reply.code(204).send()
      },
    )
  }
}

async function create(
  { favorites, posts, callerOf }: FavoriteRoutesNeeds,
  request: FastifyRequest<CreateFavorite>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const userId = assertOneself(callerOf(request).userId, request.params.userId)
  return await posts.answer({ request, reply, userId }, async () => {
    const { favorite, changes } = favorites.plan(userId, request.body)
    return {
      statusCode: 201,
      body: favoriteBody(favorite),
      changes,
      refusal: async () =>
        (await favorites.has(userId, favorite))
          ? new DomainError('conflict', 'that is a favorite already')
          : new DomainError('conflict', `a user can have ${favoritesMax} favorites at most`),
    }
  })
}

/**
 * @throws DomainError `not_found` for anybody else's id: it is not told whether they exist
 *   (decisions.md#what-is-unknown)
 */
function assertOneself(userId: UserId, text: string): UserId {
  if (parseId<UserId>(text) === userId) return userId
  throw new DomainError('not_found', `no user ${text}`)
}
