import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { grants } from '../../access/auth/scopes.ts'
import { DomainError } from '../../core/errors.ts'
import { parseId, type UserId } from '../../core/ids.ts'
import { envelope, pageRequest, sliceOf } from '../../requests/http/pagination.ts'
import type { QueryOf } from '../../requests/http/schema.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import type { ProfileStore } from './profile-store.ts'
import { type User, userBody } from './user.ts'
import { createUser, deleteUser, listUsers, readSelf, readUser } from './user-schemas.ts'
import type { UserStore } from './user-store.ts'

export interface UserRoutesNeeds {
  readonly users: UserStore
  readonly profiles: ProfileStore
  /** Called with a deleted user once the deletion is durable: the keys end at once. */
  readonly onDeleted: (userId: UserId) => Promise<void>
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** The calling user, and what `platform:admin` may do with users (decisions.md#users). */
export function userRoutes(needs: UserRoutesNeeds): FastifyPluginAsync {
  const { users, profiles, onDeleted, posts, callerOf } = needs

  return async (app) => {
    app.post<CreateUser>(
      '/users',
      { schema: createUser, config: { scope: 'platform:admin', errors: ['conflict'] } },
      async (request, reply) => {
        const { username, first_name: firstName, last_name: lastName } = request.body
        const { userId } = callerOf(request)
        return await posts.answer({ request, reply, userId }, async () => {
          const actor = actorOf(request, callerOf)
          const { user, changes } = users.plan(actor, { username, firstName, lastName })
          const body = userBody({ user, entities: [], credentials: [] })
          const refusal = async () =>
            new DomainError('conflict', `the username ${username} is taken`)
          return { statusCode: 201, body, changes, refusal }
        })
      },
    )

    app.get('/users', { schema: readSelf, config: { scope: 'any' } }, async (request) => {
      return userBody(await profiles.of(await findUser(users, callerOf(request).userId)))
    })

    app.get<OneUser>(
      '/users/:userId',
      { schema: readUser, config: { scope: 'any' } },
      async (request) => {
        const id = visibleId(request, callerOf)
        return userBody(await profiles.of(await findUser(users, id)))
      },
    )

    app.get<ListUsers>(
      '/platform/users',
      { schema: listUsers, config: { scope: 'platform:admin' } },
      async ({ query }) => {
        const page = pageRequest(query)
        const { username } = query
        const found = await users.list(sliceOf(page), username)
        const content = (await profiles.ofAll(found)).map(userBody)
        return envelope(content, await users.count(username), page)
      },
    )

    app.delete<OneUser>(
      '/users/:userId',
      { schema: deleteUser, config: { scope: 'platform:admin', errors: ['conflict'] } },
      async (request, reply) => {
        const { id } = await findUser(users, visibleId(request, callerOf))
        await users.delete(actorOf(request, callerOf), id)
        await onDeleted(id)
        return reply.code(204).send()
      },
    )
  }
}

async function findUser(users: UserStore, id: UserId): Promise<User> {
  const user = await users.find(id)
  if (!user) throw unknownUser(id)
  return user
}

/**
 * The user that a path names: oneself, or anybody for `platform:admin`.
 *
 * @throws DomainError `not_found` for others, just as for ids that nobody has
 *   (decisions.md#what-is-unknown)
 */
export function visibleId(request: FastifyRequest<OneUser>, callerOf: CallerOf): UserId {
  const text = request.params.userId
  const id = parseId<UserId>(text)
  const { userId, scope } = callerOf(request)
  if (id === undefined || (id !== userId && !grants(scope, 'platform:admin'))) {
    throw unknownUser(text)
  }
  return id
}

function unknownUser(text: string): DomainError {
  return new DomainError('not_found', `no user ${text}`)
}

export interface OneUser {
  Params: { userId: string }
}

interface ListUsers {
  Querystring: QueryOf<typeof listUsers.querystring>
}

interface CreateUser {
  Body: { username: string; first_name: string; last_name: string }
}
