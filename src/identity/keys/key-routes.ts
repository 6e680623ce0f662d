import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import type { AuthenticatedCaller } from '../../access/auth/authenticate.ts'
import type { ApiKey, KeyDirectory } from '../../access/auth/key-directory.ts'
import { grants, scopesIn } from '../../access/auth/scopes.ts'
import type { Clock } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import { parseId, type UserId } from '../../core/ids.ts'
import { cursorPage, cursorRequest } from '../../requests/http/pagination.ts'
import type { QueryOf } from '../../requests/http/schema.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Post, Posts } from '../../requests/idempotency/posts.ts'
import { assertHolds, assertOutlives, grantOf, type KeyRequest, keyBody } from './key.ts'
import { createKey, listKeys, readKey, revokeKey, rotateKey } from './key-schemas.ts'
import { changedMeanwhile, type KeyStore, keysOfUserMax } from './key-store.ts'

/** Seconds that the secret before a rotation stays good, unless somebody says otherwise. */
const overlapSDefault = 86_400

export interface KeyRoutesNeeds {
  readonly keys: KeyStore
  readonly directory: KeyDirectory
  /** Whether there is such a user. */
  readonly hasUser: (id: UserId) => Promise<boolean>
  readonly clock: Clock
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** Keys of one's own, and for `platform:admin` of everybody (decisions.md#keys). */
export function keyRoutes(needs: KeyRoutesNeeds): FastifyPluginAsync {
  const { keys, directory, posts, callerOf } = needs
  const config = { scope: 'keys:admin', errors: ['conflict', 'not_found'] } as const

  return async (app) => {
    app.post<CreateKey>('/keys', { schema: createKey, config }, (request, reply) =>
      create(needs, request, reply),
    )

    app.get<ListKeys>(
      '/keys',
      { schema: listKeys, config: { scope: 'keys:admin', errors: ['not_found'] } },
      (request, reply) => list(needs, request, reply),
    )

    app.get<OneKey>(
      '/keys/:keyId',
      { schema: readKey, config: { scope: 'keys:admin' } },
      async (request) => {
        const { id } = visibleKey(directory, callerOf(request), request.params.keyId)
        return keyBody(await keys.read(id))
      },
    )

    app.post<RotateKey>(
      '/keys/:keyId/rotate',
      { schema: rotateKey, config },
      async (request, reply) => {
        const caller = callerOf(request)
        const found = visibleKey(directory, caller, request.params.keyId)
        // Who gets the new secret can do all that the key can do.
        assertHasAllOf(directory, caller, found)
        if (found.origin === 'configured') {
          throw new DomainError('conflict', 'its secret is set in the settings: change it there')
        }
        return await posts.answer(secretPost(request, reply, caller), async () => {
          const overlapS = request.body?.overlapSeconds ?? overlapSDefault
          const actor = actorOf(request, callerOf)
          const { key, secret, ...plan } = await keys.planRotation(actor, found, overlapS)
          const body = { ...keyBody(key), apiSecret: secret }
          return { ...plan, statusCode: 200, body, refusal: async () => changedMeanwhile() }
        })
      },
    )

    app.delete<OneKey>('/keys/:keyId', { schema: revokeKey, config }, async (request, reply) => {
      const caller = callerOf(request)
      const key = visibleKey(directory, caller, request.params.keyId)
      // A key that may do little could else lock out the one that may do everything.
      assertHasAllOf(directory, caller, key)
      await keys.revoke(actorOf(request, callerOf), key)
      return reply.code(204).send()
    })
  }
}

async function create(
  needs: KeyRoutesNeeds,
  request: FastifyRequest<CreateKey>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { keys, directory, posts, clock, callerOf } = needs
  const caller = callerOf(request)
  const { userId: wantedUser, ...wanted } = request.body
  return await posts.answer(secretPost(request, reply, caller), async () => {
    const userId = await userIn(needs, caller, wantedUser)
    const maker = { caller, key: keyInUse(directory, caller) }
    const grant = grantOf(maker, wanted, clock.nowUs())
    const { name, kind, permission } = wanted
    const actor = actorOf(request, callerOf)
    const { key, secret, ...plan } = keys.plan(actor, { ...grant, userId, name, kind, permission })
    const body = { ...keyBody(key), apiSecret: secret }
    return { ...plan, statusCode: 201, body, refusal: tooMany }
  })
}

/**
 * Nobody rotates or ends a key that has more than their own, in scope or in time. One's own has as much, unless
 * the token in use was issued for less.
 *
 * @throws DomainError `insufficient_permissions`, naming what is missing; `invalid_api_key`
 */
function assertHasAllOf(
  directory: KeyDirectory,
  caller: AuthenticatedCaller,
  { scope, expiresAtUs }: ApiKey,
): void {
  assertHolds(caller, scopesIn(scope))
  assertOutlives(keyInUse(directory, caller), expiresAtUs)
}

/**
 * The key of the caller. It may have ended since the request was let in, and then there is nothing
 * left that a new key could be measured by.
 *
 * @throws DomainError `invalid_api_key`
 */
function keyInUse(directory: KeyDirectory, { apiKeyId }: AuthenticatedCaller): ApiKey {
  const key = directory.find(apiKeyId)
  if (!key) throw new DomainError('invalid_api_key', 'the key in use has ended')
  return key
}

async function tooMany(): Promise<DomainError> {
  return new DomainError('conflict', `a user can have ${keysOfUserMax} keys`)
}

/** A POST that shows a secret: to the key that asks only, and in no cache between us. */
function secretPost(
  request: FastifyRequest,
  reply: FastifyReply,
  { userId, apiKeyId }: AuthenticatedCaller,
): Post {
  return { request, reply: reply.header('cache-control', 'no-store'), userId, apiKeyId }
}

/** The keys of a user as a JSON array; the next page is in the Link header (decisions.md#lists). */
async function list(
  needs: KeyRoutesNeeds,
  request: FastifyRequest<ListKeys>,
  reply: FastifyReply,
): Promise<object> {
  const page = cursorRequest(request.query)
  const userId = await userIn(needs, needs.callerOf(request), request.query.userId)
  const found = await needs.keys.list(userId, page.after, page.limit + 1)
  return cursorPage(found, page, { request, reply }).map(keyBody)
}

/**
 * The user whose keys are meant: the caller's own, or any other one for `platform:admin`.
 *
 * @throws DomainError `insufficient_permissions`, whether there is such a user or not
 */
async function userIn(
  { hasUser }: KeyRoutesNeeds,
  caller: AuthenticatedCaller,
  wanted: string | undefined,
): Promise<UserId> {
  if (wanted === undefined) return caller.userId
  const id = parseId<UserId>(wanted)
  if (id === caller.userId) return id
  assertHolds(caller, ['platform:admin'])
  if (id === undefined || !(await hasUser(id)))
    throw new DomainError('not_found', `no user ${wanted}`)
  return id
}

/** @throws DomainError `not_found` for the keys of others, just as for ids that no key has */
function visibleKey(directory: KeyDirectory, caller: AuthenticatedCaller, id: string): ApiKey {
  const key = directory.findAny(id)
  const isVisible = key?.userId === caller.userId || grants(caller.scope, 'platform:admin')
  if (!key || !isVisible) throw new DomainError('not_found', `no key ${id}`)
  return key
}

interface ListKeys {
  Querystring: QueryOf<typeof listKeys.querystring>
}

interface CreateKey {
  Body: KeyRequest & { userId?: string }
}

interface OneKey {
  Params: { keyId: string }
}

interface RotateKey extends OneKey {
  Body: { overlapSeconds?: number } | null | undefined
}
