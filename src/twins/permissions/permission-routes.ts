import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import type { Clock } from '../../core/clock.ts'
import { conflict, noRoom } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import { expiryOf } from '../../core/expiry.ts'
import { type PermissionId, parseId, type UserId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { envelope, pageRequest, sliceOf } from '../../requests/http/pagination.ts'
import * as s from '../../requests/http/schema.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { type AddOperation, operationsOf } from '../../requests/operations/operation.ts'
import { ownAssetStream } from '../asset-streams/asset-stream-routes.ts'
import type { AssetStreamStore } from '../asset-streams/asset-stream-store.ts'
import { ownVault } from '../vaults/vault-routes.ts'
import type { VaultStore } from '../vaults/vault-store.ts'
import {
  permissionsMax,
  permissionsOfResourceMax,
  type SharedResource,
  type ShownPermission,
  type Terms,
} from './permission.ts'
import * as api from './permission-api.ts'
import { streamPermissionBody, vaultPermissionBody } from './permission-body.ts'
import type { PermissionEnds } from './permission-ends.ts'
import type { PermissionStore } from './permission-store.ts'
import type { UnknownUsers } from './unknown-users.ts'

export interface PermissionRoutesNeeds {
  readonly vaults: VaultStore
  readonly assetStreams: AssetStreamStore
  readonly permissions: PermissionStore
  readonly ends: Pick<PermissionEnds, 'endOfPair'>
  readonly unknownUsers: UnknownUsers
  readonly clock: Clock
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** What owners let others do with their vaults and asset streams (decisions.md#permissions-of-vaults-and-asset-streams). */
export function permissionRoutes(needs: PermissionRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    addOfVaults(operationsOf(app, { ...needs, tags: ['Vaults'] }), needs)
    addOfStreams(operationsOf(app, { ...needs, tags: ['Streams'] }), needs)
  }
}

const listNote = 'Oldest first, in pages, without those whose time is over.'
const grantNote =
  'READ lets the user see it, and WRITE change it, until the permission ends. A user can have one, which is changed by PUT.'
const changeNote = 'What is not sent keeps its value. It counts from the next request on.'
const endNote = 'It ends with the very next request.'

function addOfVaults(add: AddOperation, needs: PermissionRoutesNeeds): void {
  const scope = 'vaults:write'
  const find = (userId: UserId, id: string) => sharedVault(needs, userId, id)
  add('GET /vaults/:vaultId/permissions', {
    operationId: 'listVaultPermissions',
    summary: 'List who may do something with a vault.',
    description: listNote,
    scope,
    query: s.query(s.pageQuery),
    answers: { 200: s.pageOf(api.vaultPermissionSchema) },
    handler: async ({ caller, params, query }) =>
      await listed(needs, await find(caller.userId, params.vaultId), query, vaultPermissionBody),
  })

  add('POST /vaults/:vaultId/permissions', {
    operationId: 'grantVaultPermission',
    summary: 'Share a vault with a user.',
    description: grantNote,
    scope,
    body: api.newPermissionSchema,
    answers: { 201: api.vaultPermissionSchema },
    errors: grantErrors,
    effect: async (exchange) => {
      const again = () => find(exchange.caller.userId, exchange.params.vaultId)
      const { permission, ...effect } = await grant(needs, exchange, again)
      return { ...effect, body: vaultPermissionBody(permission) }
    },
  })

  add('PUT /vaults/:vaultId/permissions/:permissionId', {
    operationId: 'changeVaultPermission',
    summary: 'Change what a user may do with a vault, or for how long.',
    description: changeNote,
    scope,
    body: api.permissionChangeSchema,
    answers: { 200: api.vaultPermissionSchema },
    handler: async (exchange) => {
      const { caller, params } = exchange
      const vault = await find(caller.userId, params.vaultId)
      return vaultPermissionBody(await change(needs, exchange, vault))
    },
  })

  add('DELETE /vaults/:vaultId/permissions/:permissionId', {
    operationId: 'revokeVaultPermission',
    summary: 'Share a vault with a user no more.',
    description: endNote,
    scope,
    answers: { 204: s.noContent },
    handler: async (exchange) =>
      await revoke(needs, exchange, await find(exchange.caller.userId, exchange.params.vaultId)),
  })
}

function addOfStreams(add: AddOperation, needs: PermissionRoutesNeeds): void {
  const scope = 'streams:write'
  const find = (userId: UserId, id: string) => sharedStream(needs, userId, id)
  add('GET /streams/:streamId/permissions', {
    operationId: 'listStreamPermissions',
    summary: 'List who may do something with an asset stream.',
    description: listNote,
    scope,
    query: s.query(s.pageQuery),
    answers: { 200: s.pageOf(api.streamPermissionSchema) },
    handler: async ({ caller, params, query }) =>
      await listed(needs, await find(caller.userId, params.streamId), query, streamPermissionBody),
  })

  add('POST /streams/:streamId/permissions', {
    operationId: 'grantStreamPermission',
    summary: 'Share an asset stream with a user, and what is attached to it.',
    description: grantNote,
    scope,
    body: api.newPermissionSchema,
    answers: { 201: api.streamPermissionSchema },
    errors: grantErrors,
    effect: async (exchange) => {
      const again = () => find(exchange.caller.userId, exchange.params.streamId)
      const { permission, ...effect } = await grant(needs, exchange, again)
      return { ...effect, body: streamPermissionBody(permission) }
    },
  })

  add('PUT /streams/:streamId/permissions/:permissionId', {
    operationId: 'changeStreamPermission',
    summary: 'Change what a user may do with an asset stream, or for how long.',
    description: changeNote,
    scope,
    body: api.permissionChangeSchema,
    answers: { 200: api.streamPermissionSchema },
    handler: async (exchange) => {
      const { caller, params } = exchange
      const stream = await find(caller.userId, params.streamId)
      return streamPermissionBody(await change(needs, exchange, stream))
    },
  })

  add('DELETE /streams/:streamId/permissions/:permissionId', {
    operationId: 'revokeStreamPermission',
    summary: 'Share an asset stream with a user no more.',
    description: endNote,
    scope,
    answers: { 204: s.noContent },
    handler: async (exchange) =>
      await revoke(needs, exchange, await find(exchange.caller.userId, exchange.params.streamId)),
  })
}

const grantErrors = ['conflict', 'shared_with_oneself'] as const

async function sharedVault(
  { vaults }: PermissionRoutesNeeds,
  userId: UserId,
  text: string,
): Promise<SharedResource> {
  const { id, ownerId, createdAtUs, name } = await ownVault(vaults, userId, text)
  return { type: 'vault', id, ownerId, createdAtUs, name }
}

async function sharedStream(
  { assetStreams }: PermissionRoutesNeeds,
  userId: UserId,
  text: string,
): Promise<SharedResource> {
  const { id, ownerId, createdAtUs, assetCode } = await ownAssetStream(assetStreams, userId, text)
  return { type: 'asset_stream', id, ownerId, createdAtUs, name: assetCode }
}

async function listed<Body>(
  { permissions }: PermissionRoutesNeeds,
  resource: SharedResource,
  query: Parameters<typeof pageRequest>[0],
  body: (permission: ShownPermission) => Body,
) {
  const page = pageRequest(query)
  const { items, total } = await permissions.listPage(resource, sliceOf(page))
  return envelope(items.map(body), total, page)
}

interface Granting {
  readonly request: FastifyRequest
  readonly body: Static<typeof api.newPermissionSchema>
}

/** @param find finds the resource, as it is when it is called */
async function grant(
  needs: PermissionRoutesNeeds,
  { request, body }: Granting,
  find: () => Promise<SharedResource>,
) {
  const { permissions, ends, clock, callerOf } = needs
  const resource = await find()
  const expiresAtUs = expiryOf('expires_at', body.expires_at, clock.nowUs())
  const holder = await knownUser(needs, resource.ownerId, body.username)
  await ends.endOfPair(resource.id, holder.id)
  const terms = { role: body.role, expiresAtUs, holder }
  const { permission, changes } = permissions.plan(resource, terms, actorOf(request, callerOf))
  return {
    statusCode: 201,
    permission,
    changes,
    refusal: async () => {
      const now = await find()
      if (await permissions.findOf(now, holder.id)) {
        return conflict(
          `${holder.username} has a permission already: change that`,
          'Change it with PUT /vaults/{vaultId}/permissions/{permissionId} or PUT /streams/{streamId}/permissions/{permissionId}.',
        )
      }
      if ((await permissions.userNamed(body.username))?.id !== holder.id) {
        return unknownUser(body.username)
      }
      return noRoom(
        await tooMany(permissions, now),
        'DELETE /vaults/{vaultId}/permissions/{permissionId} or DELETE /streams/{streamId}/permissions/{permissionId}',
      )
    },
  }
}

async function tooMany(permissions: PermissionStore, { ownerId }: SharedResource): Promise<string> {
  return (await permissions.hasRoom(ownerId))
    ? `${permissionsOfResourceMax} users at most can share something`
    : `a user can grant ${permissionsMax} permissions at most`
}

/**
 * The user that a permission is for.
 *
 * @throws DomainError `not_found`, `shared_with_oneself`, or `rate_limited` after too many names that nobody has
 */
async function knownUser(
  { permissions, unknownUsers }: PermissionRoutesNeeds,
  ownerId: UserId,
  username: string,
) {
  const holder = await permissions.userNamed(username)
  unknownUsers.assertMayLearn(ownerId)
  if (!holder) {
    unknownUsers.count(ownerId)
    throw unknownUser(username)
  }
  if (holder.id !== ownerId) return holder
  throw new DomainError('shared_with_oneself', 'that is you: the owner may do everything already')
}

function unknownUser(username: string): DomainError {
  return new DomainError('not_found', `no user ${username}`, {
    remedy:
      'Ask the user for the username: GET /users shows each user their own; case makes no difference.',
  })
}

interface Changing {
  readonly params: { readonly permissionId: string }
  readonly request: FastifyRequest
}

async function change(
  needs: PermissionRoutesNeeds,
  {
    params,
    request,
    body,
  }: Changing & { readonly body: Static<typeof api.permissionChangeSchema> },
  resource: SharedResource,
): Promise<ShownPermission> {
  const { permissions, clock, callerOf } = needs
  const { role, expires_at: expiry } = body
  const given = expiryOf('expires_at', expiry, clock.nowUs())
  for (;;) {
    const permission = await found(permissions, resource, params.permissionId)
    const terms: Terms = {
      role: role ?? permission.role,
      expiresAtUs: expiry === undefined ? permission.expiresAtUs : given,
    }
    if (terms.role === permission.role && terms.expiresAtUs === permission.expiresAtUs) {
      return permission
    }
    const actor = actorOf(request, callerOf)
    const changed = await permissions.change(resource, { permission, terms }, actor)
    // Another change, or the end of it, has come first: what is not sent keeps the value of now.
    if (changed) return changed
  }
}

async function revoke(
  { permissions, callerOf }: PermissionRoutesNeeds,
  { params, request }: Changing,
  resource: SharedResource,
): Promise<null> {
  const permission = await found(permissions, resource, params.permissionId)
  if (await permissions.revoke(resource, permission, actorOf(request, callerOf))) return null
  throw unknownPermission(params.permissionId)
}

/** @throws DomainError `not_found` */
async function found(
  permissions: PermissionStore,
  resource: SharedResource,
  text: string,
): Promise<ShownPermission> {
  const id = parseId<PermissionId>(text)
  const permission = id && (await permissions.find(resource, id))
  if (!permission) throw unknownPermission(text)
  return permission
}

function unknownPermission(text: string): DomainError {
  return notFound('permission', text)
}
