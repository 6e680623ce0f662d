import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import type { Ledger } from '../../core/ledger.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Post, Posts } from '../../requests/idempotency/posts.ts'
import { type ProfileStore, partsMax } from './profile-store.ts'
import { type CredentialType, credentialBody, type EntityType, entityBody } from './user.ts'
import { type OneUser, visibleId } from './user-routes.ts'
import { createCredential, createEntity, deleteCredential, deleteEntity } from './user-schemas.ts'
import type { UserStore } from './user-store.ts'

export interface ProfileRoutesNeeds {
  readonly users: UserStore
  readonly profiles: ProfileStore
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** Entities and credentials of a user. Reading them is part of reading the user. */
export function profileRoutes(needs: ProfileRoutesNeeds): FastifyPluginAsync {
  const { users, profiles, posts, callerOf } = needs

  const userIn = async (request: FastifyRequest<OneUser>): Promise<UserId> => {
    const id = visibleId(request, callerOf)
    if (!(await users.find(id))) throw new DomainError('not_found', `no user ${id}`)
    return id
  }

  const postOf = (request: FastifyRequest, reply: FastifyReply): Post => {
    const { userId } = callerOf(request)
    return { request, reply, userId }
  }

  const remove =
    (part: 'user_entities' | 'user_credentials', what: string) =>
    async (request: FastifyRequest<OnePart>, reply: FastifyReply) => {
      const { partId } = request.params
      const isRemoved = await profiles.remove(part, await userIn(request), partId.toLowerCase())
      if (!isRemoved) throw new DomainError('not_found', `no ${what} ${partId}`)
      return reply.code(204).send()
    }

  // A profile is no data of a vault: whoever administers a user's keys administers the profile.
  const config = { scope: 'keys:admin', errors: ['conflict'] } as const
  return async (app) => {
    app.post<CreateEntity>(
      '/users/:userId/entities',
      { schema: createEntity, config },
      async (request, reply) => {
        const { name, description = '', type = 'LEGAL_ENTITY' } = request.body
        const owner = await userIn(request)
        return await posts.answer(postOf(request, reply), async () => {
          const { entity, changes } = profiles.planEntity(owner, { name, description, type })
          return { statusCode: 201, body: entityBody(entity), changes, refusal: tooMany }
        })
      },
    )

    app.post<CreateCredential>(
      '/users/:userId/credentials',
      { schema: createCredential, config },
      async (request, reply) => {
        const { type = 'EMAIL', key, identity_provider = '', ledger = 'XRPL' } = request.body
        const wanted = { type, key, identityProvider: identity_provider, ledger }
        const owner = await userIn(request)
        return await posts.answer(postOf(request, reply), async () => {
          const { credential, changes } = profiles.planCredential(owner, wanted)
          return { statusCode: 201, body: credentialBody(credential), changes, refusal: tooMany }
        })
      },
    )

    app.delete<OnePart>(
      '/users/:userId/entities/:partId',
      { schema: deleteEntity, config },
      remove('user_entities', 'entity'),
    )
    app.delete<OnePart>(
      '/users/:userId/credentials/:partId',
      { schema: deleteCredential, config },
      remove('user_credentials', 'credential'),
    )
  }
}

async function tooMany(): Promise<DomainError> {
  return new DomainError('conflict', `a user can have ${partsMax} of them`)
}

interface OnePart extends OneUser {
  Params: { userId: string; partId: string }
}

interface CreateEntity extends OneUser {
  Body: { name: string; description?: string; type?: EntityType }
}

interface CreateCredential extends OneUser {
  Body: {
    key: string
    type?: CredentialType
    identity_provider?: string
    ledger?: Ledger
  }
}
