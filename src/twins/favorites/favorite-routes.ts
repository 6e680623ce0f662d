import type { FastifyPluginAsync } from 'fastify'
import { conflict, noRoom } from '../../core/conflict.ts'
import { type FavoriteId, parseId, type UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { envelope, pageRequest, sliceOf } from '../../requests/http/pagination.ts'
import { noContent, pageOf, pageQuery, query } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import { favoritesMax, type NewFavorite } from './favorite.ts'
import { favoriteBody, favoriteSchema, newFavoriteSchema } from './favorite-api.ts'
import type { FavoriteStore } from './favorite-store.ts'

export interface FavoriteRoutesNeeds {
  readonly favorites: FavoriteStore
  readonly posts: Posts
  readonly callerOf: CallerOf
}

export function favoriteRoutes(needs: FavoriteRoutesNeeds): FastifyPluginAsync {
  const { favorites } = needs
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Favorites'] })

    add('GET /users/:userId/favorites', {
      operationId: 'listFavorites',
      summary: "List one's own favorites.",
      scope: 'vaults:read',
      query: query(pageQuery),
      answers: { 200: pageOf(favoriteSchema) },
      handler: async ({ caller, params, query: asked }) => {
        const page = pageRequest(asked)
        const userId = assertOneself(caller.userId, params.userId)
        const found = await favorites.list(userId, sliceOf(page))
        return envelope(found.favorites.map(favoriteBody), found.total, page)
      },
    })

    add('POST /users/:userId/favorites', {
      operationId: 'createFavorite',
      summary: 'Add a favorite.',
      scope: 'vaults:write',
      body: newFavoriteSchema,
      answers: { 201: favoriteSchema },
      errors: ['conflict'],
      effect: async ({ caller, params, body }) =>
        creation(favorites, assertOneself(caller.userId, params.userId), body),
    })

    add('DELETE /users/:userId/favorites/:favoriteId', {
      operationId: 'deleteFavorite',
      summary: 'Remove a favorite.',
      scope: 'vaults:write',
      answers: { 204: noContent },
      handler: async ({ caller, params }) => {
        const userId = assertOneself(caller.userId, params.userId)
        const id = parseId<FavoriteId>(params.favoriteId)
        if (id !== undefined && (await favorites.remove(userId, id))) return null
        throw notFound('favorite', params.favoriteId)
      },
    })
  }
}

function creation(favorites: FavoriteStore, userId: UserId, wanted: NewFavorite) {
  const { favorite, changes } = favorites.plan(userId, wanted)
  return {
    statusCode: 201,
    body: favoriteBody(favorite),
    changes,
    refusal: async () =>
      (await favorites.has(userId, favorite))
        ? conflict(
            'that is a favorite already',
            'GET /users/{userId}/favorites has it: nothing is left to do.',
          )
        : noRoom(
            `a user can have ${favoritesMax} favorites at most`,
            'DELETE /users/{userId}/favorites/{favoriteId}',
          ),
  }
}

/**
 * @throws DomainError `not_found` for anybody else's id: it is not told whether they exist
 *   (decisions.md#what-is-unknown)
 */
function assertOneself(userId: UserId, text: string): UserId {
  if (parseId<UserId>(text) === userId) return userId
  throw notFound('user', text)
}
