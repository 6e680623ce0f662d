import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import type { Actor } from '../../access/audit/audit-log.ts'
import type { AuthenticatedCaller } from '../../access/auth/authenticate.ts'
import type { ApiKey, KeyDirectory } from '../../access/auth/key-directory.ts'
import { grants, scopesIn } from '../../access/auth/scopes.ts'
import type { Clock } from '../../core/clock.ts'
import { conflict, noRoom } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import { parseId, type UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { cursorPage, cursorRequest } from '../../requests/http/pagination.ts'
import { cursorListOf, keyHeaders, noContent } from '../../requests/http/schema.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import {
  type AddOperation,
  type Exchange,
  operationsOf,
  secretPostOf,
} from '../../requests/operations/operation.ts'
import { assertHolds, assertOutlives, grantOf } from './key.ts'
import * as api from './key-api.ts'
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
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Keys'] })
    addReading(add, needs)
    addChanging(add, needs)
    addSetting(add, needs)
  }
}

const params = { keyId: api.keyId }

function addReading(add: AddOperation, needs: KeyRoutesNeeds): void {
  const { keys, directory } = needs

  add('GET /keys', {
    operationId: 'listKeys',
    summary: 'List the keys of the calling user, or of another one with platform:admin.',
    scope: 'keys:admin',
    query: api.keysQuery,
    answers: { 200: cursorListOf(api.keySchema) },
    errors: ['not_found'],
    handler: async ({ caller, query, request, reply }) => {
      const page = cursorRequest(query)
      const userId = await userIn(needs, caller, query.userId)
      const found = await keys.list(userId, page.after, page.limit + 1)
      return cursorPage(found, page, { request, reply }).map(api.keyBody)
    },
  })

  add('GET /keys/:keyId', {
    operationId: 'readKey',
    summary: 'Read a key.',
    scope: 'keys:admin',
    params,
    answers: { 200: api.keySchema },
    handler: async ({ caller, params: { keyId } }) => {
      const { id } = visibleKey(directory, caller, keyId)
      return api.keyBody(await keys.read(id))
    },
  })
}

function addChanging(add: AddOperation, needs: KeyRoutesNeeds): void {
  const { keys, directory, posts, callerOf } = needs
  const errors = ['conflict', 'not_found'] as const

  add('POST /keys', {
    operationId: 'createKey',
    summary: 'Make a key; its secret is shown this once.',
    scope: 'keys:admin',
    body: api.newKeySchema,
    answers: { 201: api.keyWithSecretSchema },
    errors,
    effect: ({ caller, body, request }) =>
      creation(needs, { caller, actor: actorOf(request, callerOf) }, body),
    answersSecret: true,
  })

  add('POST /keys/:keyId/rotate', {
    operationId: 'rotateKey',
    summary: 'Give a key a new secret; the one before stays good for a while.',
    scope: 'keys:admin',
    params,
    headers: keyHeaders,
    body: api.rotationSchema,
    answers: { 200: api.keyWithSecretSchema },
    errors,
    handler: async (exchange) => {
      const found = changeableKey(directory, exchange)
      if (found.origin === 'configured') {
        throw conflict(
          'its secret is set in the settings: change it there',
          'Change STREAMVAULT_ADMIN_SECRET and restart the service, or make another key with POST /keys.',
        )
      }
      return await posts.answer(secretPostOf(exchange), async () => {
        const overlapS = exchange.body?.overlapSeconds ?? overlapSDefault
        const actor = actorOf(exchange.request, callerOf)
        const { key, secret, ...plan } = await keys.planRotation(actor, found, overlapS)
        const body = api.keyWithSecretBody(key, secret)
        return { ...plan, statusCode: 200, body, refusal: async () => changedMeanwhile() }
      })
    },
  })

  add('DELETE /keys/:keyId', {
    operationId: 'revokeKey',
    summary: 'Revoke a key: its tokens and sessions end at once.',
    scope: 'keys:admin',
    params,
    answers: { 204: noContent },
    errors,
    handler: async (exchange) => {
      await keys.revoke(actorOf(exchange.request, callerOf), changeableKey(directory, exchange))
      return null
    },
  })
}

function addSetting(add: AddOperation, { keys, directory, callerOf }: KeyRoutesNeeds): void {
  add('PUT /keys/:keyId', {
    operationId: 'changeKey',
    summary: 'Change what the MQTT clients of a key do on topics that are not its own.',
    description: 'Its sessions end, and begin again with its new rights.',
    scope: 'keys:admin',
    params,
    body: api.changedKeySchema,
    answers: { 200: api.keySchema },
    errors: ['conflict', 'not_found'],
    handler: async (exchange) => {
      const found = changeableKey(directory, exchange)
      const actor = actorOf(exchange.request, callerOf)
      await keys.change(actor, found, exchange.body.foreignTopics)
      return api.keyBody(await keys.read(found.id))
    },
  })
}

async function creation(
  needs: KeyRoutesNeeds,
  { caller, actor }: { readonly caller: AuthenticatedCaller; readonly actor: Actor },
  { userId: wantedUser, ...wanted }: Static<typeof api.newKeySchema>,
) {
  const { keys, directory, clock } = needs
  const userId = await userIn(needs, caller, wantedUser)
  const maker = { caller, key: keyInUse(directory, caller) }
  const grant = grantOf(maker, wanted, clock.nowUs())
  const { name, kind, permission, foreignTopics = 'refuse' } = wanted
  const { key, secret, ...plan } = keys.plan(actor, {
    ...grant,
    userId,
    name,
    kind,
    permission,
    foreignTopics,
  })
  const body = api.keyWithSecretBody(key, secret)
  return { ...plan, statusCode: 201, body, refusal: tooMany } as const
}

/**
 * A key that the caller may change. Who gets its new secret can do all that the key can do, and a key
 * that may do little could else lock out the one that may do everything.
 *
 * @throws DomainError `not_found`, or those of `assertHasAllOf`
 */
function changeableKey(
  directory: KeyDirectory,
  { caller, params: { keyId } }: Pick<Exchange<'/:keyId'>, 'caller' | 'params'>,
): ApiKey {
  const key = visibleKey(directory, caller, keyId)
  assertHasAllOf(directory, caller, key)
  return key
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
  return noRoom(`a user can have ${keysOfUserMax} keys`, 'DELETE /keys/{keyId}')
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
  if (id === undefined || !(await hasUser(id))) throw notFound('user', wanted)
  return id
}

/** @throws DomainError `not_found` for the keys of others, just as for ids that no key has */
function visibleKey(directory: KeyDirectory, caller: AuthenticatedCaller, id: string): ApiKey {
  const key = directory.findAny(id)
  const isVisible = key?.userId === caller.userId || grants(caller.scope, 'platform:admin')
  if (!key || !isVisible) throw notFound('key', id)
  return key
}
