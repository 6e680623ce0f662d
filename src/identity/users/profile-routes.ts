import type { FastifyPluginAsync } from 'fastify'
import type { AuthenticatedCaller } from '../../access/auth/authenticate.ts'
import { noRoom } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { keyHeaders, noContent } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { type AddOperation, operationsOf, postOf } from '../../requests/operations/operation.ts'
import { type ProfileStore, partsMax } from './profile-store.ts'
import * as api from './user-api.ts'
import { visibleId } from './user-routes.ts'
import type { UserStore } from './user-store.ts'

export interface ProfileRoutesNeeds {
  readonly users: UserStore
  readonly profiles: ProfileStore
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/**
 * Entities and credentials of a user. Reading them is part of reading the user. A profile is no data of
 * a vault: whoever administers a user's keys administers the profile.
 */
export function profileRoutes(needs: ProfileRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Users'] })
    addMaking(add, needs)
    addRemoving(add, needs)
  }
}

function addMaking(add: AddOperation, { users, profiles, posts }: ProfileRoutesNeeds): void {
  add('POST /users/:userId/entities', {
    operationId: 'createEntity',
    summary: 'Add an entity to a user.',
    scope: 'keys:admin',
    headers: keyHeaders,
    body: api.newEntitySchema,
    answers: { 201: api.entitySchema },
    errors: ['conflict'],
    handler: async (exchange) => {
      const owner = await userIn(users, exchange)
      return await posts.answer(postOf(exchange), async () => {
        const { entity, changes } = profiles.planEntity(owner, api.newEntity(exchange.body))
        return { statusCode: 201, body: api.entityBody(entity), changes, refusal: tooMany }
      })
    },
  })

  add('POST /users/:userId/credentials', {
    operationId: 'createCredential',
    summary: 'Add a credential to a user; no secret is taken.',
    scope: 'keys:admin',
    headers: keyHeaders,
    body: api.newCredentialSchema,
    answers: { 201: api.credentialSchema },
    errors: ['conflict'],
    handler: async (exchange) => {
      const owner = await userIn(users, exchange)
      return await posts.answer(postOf(exchange), async () => {
        const wanted = api.newCredential(exchange.body)
        const { credential, changes } = await profiles.planCredential(owner, wanted)
        return { statusCode: 201, body: api.credentialBody(credential), changes, refusal: tooMany }
      })
    },
  })
}

function addRemoving(add: AddOperation, { users, profiles }: ProfileRoutesNeeds): void {
  const remove =
    (part: 'user_entities' | 'user_credentials', what: 'credential' | 'entity') =>
    async (exchange: OfPart) => {
      const { partId } = exchange.params
      const owner = await userIn(users, exchange)
      if (await profiles.remove(part, owner, partId.toLowerCase())) return null
      throw notFound(what, partId)
    }

  add('DELETE /users/:userId/entities/:partId', {
    operationId: 'deleteEntity',
    summary: 'Remove an entity of a user.',
    scope: 'keys:admin',
    answers: { 204: noContent },
    errors: ['conflict'],
    handler: remove('user_entities', 'entity'),
  })

  add('DELETE /users/:userId/credentials/:partId', {
    operationId: 'deleteCredential',
    summary: 'Remove a credential of a user.',
    scope: 'keys:admin',
    answers: { 204: noContent },
    errors: ['conflict'],
    handler: remove('user_credentials', 'credential'),
  })
}

interface OfUser {
  readonly caller: AuthenticatedCaller
  readonly params: { readonly userId: string }
}

interface OfPart extends OfUser {
  readonly params: { readonly userId: string; readonly partId: string }
}

/** @throws DomainError `not_found` */
async function userIn(users: UserStore, { caller, params }: OfUser): Promise<UserId> {
  const id = visibleId(caller, params.userId)
  if (!(await users.find(id))) throw notFound('user', id)
  return id
}

async function tooMany(): Promise<DomainError> {
  return noRoom(
    `a user can have ${partsMax} of them`,
    'DELETE /users/{userId}/entities/{partId} or DELETE /users/{userId}/credentials/{partId}',
  )
}
