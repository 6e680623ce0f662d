import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import type { AuthenticatedCaller } from '../../access/auth/authenticate.ts'
import { grants } from '../../access/auth/scopes.ts'
import { conflict } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import { parseId, type UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import type { SignedPaths } from '../../files/signing/signed-paths.ts'
import type { UploadSubject } from '../../files/store/upload-id.ts'
import { imageBytesMax } from '../../files/uploads/image-uploads.ts'
import type { UploadUrls } from '../../files/uploads/upload-urls.ts'
import { envelope, pageRequest, sliceOf } from '../../requests/http/pagination.ts'
import { noContent, pageOf } from '../../requests/http/schema.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { type AddOperation, operationsOf } from '../../requests/operations/operation.ts'
import type { ProfileStore } from './profile-store.ts'
import type { User } from './user.ts'
import * as api from './user-api.ts'
import { picturePath } from './user-picture-route.ts'
import type { UserStore } from './user-store.ts'

export interface UserRoutesNeeds {
  readonly users: UserStore
  readonly profiles: ProfileStore
  readonly uploadUrls: UploadUrls
  readonly signed: SignedPaths
  /** Called with a deleted user once the deletion is durable: the keys end at once. */
  readonly onDeleted: (userId: UserId) => Promise<void>
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** The calling user, and what `platform:admin` may do with users (decisions.md#users). */
export function userRoutes(needs: UserRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Users'] })
    addReading(add, needs)
    addChanging(add, needs)
  }
}

function addReading(add: AddOperation, needs: UserRoutesNeeds): void {
  const { users, profiles } = needs

  add('GET /users', {
    operationId: 'readCallingUser',
    summary: 'Read the calling user.',
    scope: 'any',
    answers: { 200: api.userSchema },
    handler: async ({ caller }) => shown(needs, caller, await findUser(users, caller.userId)),
  })

  add('GET /users/:userId', {
    operationId: 'readUser',
    summary: 'Read a user: your own, or with platform:admin any other.',
    scope: 'any',
    answers: { 200: api.userSchema },
    handler: async ({ caller, params }) => {
      const id = visibleId(caller, params.userId)
      return await shown(needs, caller, await findUser(users, id))
    },
  })

  add('GET /platform/users', {
    operationId: 'listUsers',
    summary: 'List all users.',
    scope: 'platform:admin',
    query: api.usersQuery,
    answers: { 200: pageOf(api.userSchema) },
    handler: async ({ query }) => {
      const page = pageRequest(query)
      const { username } = query
      const found = await users.list(sliceOf(page), username)
      const content = (await profiles.ofAll(found)).map((profile) => api.userBody(profile))
      return envelope(content, await users.count(username), page)
    },
  })
}

function addChanging(add: AddOperation, { users, onDeleted, callerOf }: UserRoutesNeeds): void {
  add('POST /users', {
    operationId: 'createUser',
    summary: 'Create a user.',
    scope: 'platform:admin',
    body: api.newUserSchema,
    answers: { 201: api.userSchema },
    errors: ['conflict'],
    effect: async ({ body, request }) => {
      const { user, changes } = users.plan(actorOf(request, callerOf), api.newUser(body))
      return {
        statusCode: 201,
        body: api.userBody({ user, entities: [], credentials: [] }),
        changes,
        refusal: async () =>
          conflict(`the username ${body.username} is taken`, 'Choose another username.'),
      }
    },
  })

  add('DELETE /users/:userId', {
    operationId: 'deleteUser',
    summary: 'Delete a user.',
    description: 'The keys end at once, and the profile is erased; what the user owned is hidden.',
    scope: 'platform:admin',
    answers: { 204: noContent },
    errors: ['conflict'],
    handler: async ({ caller, params, request }) => {
      const { id } = await findUser(users, visibleId(caller, params.userId))
      await users.delete(actorOf(request, callerOf), id)
      await onDeleted(id)
      return null
    },
  })
}

/** The user as a caller sees it: addresses of a picture are for its user alone. */
async function shown(
  { profiles, uploadUrls, signed }: UserRoutesNeeds,
  caller: AuthenticatedCaller,
  user: User,
): Promise<Static<typeof api.userSchema>> {
  const profile = await profiles.of(user)
  if (caller.userId !== user.id) return api.userBody(profile)
  return api.userBody(profile, {
    upload: await uploadUrls.urlFor(caller, pictureOf(user), imageBytesMax),
    download:
      user.imageCid === ''
        ? ''
        : signed.urlOf({ method: 'GET', path: picturePath(user.id), limit: 0 }),
  })
}

function pictureOf({ id, imageUploads }: User): UploadSubject {
  return { purpose: 'user-image', resourceId: id, turn: imageUploads + 1 }
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
export function visibleId({ userId, scope }: AuthenticatedCaller, text: string): UserId {
  const id = parseId<UserId>(text)
  if (id === undefined || (id !== userId && !grants(scope, 'platform:admin'))) {
    throw unknownUser(text)
  }
  return id
}

function unknownUser(text: string): DomainError {
  return notFound('user', text)
}
