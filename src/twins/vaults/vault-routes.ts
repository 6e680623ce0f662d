import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError } from '../../core/errors.ts'
import { parseId, type UserId, type VaultId } from '../../core/ids.ts'
import type { LifecycleEvent } from '../../outbox/lifecycle/lifecycle-event.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import { assertOwn } from '../../requests/http/ownership.ts'
import {
  cursorPage,
  cursorRequest,
  envelope,
  pageRequest,
  refuseUnknownParameters,
  sliceOf,
} from '../../requests/http/pagination.ts'
import { cursorQuery, pageQuery, type QueryOf } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import type { Template } from '../templates/template.ts'
import { visibleTemplate } from '../templates/template-routes.ts'
import type { TemplateStore } from '../templates/template-store.ts'
import { bearerVaultBody, type Vault, vaultBody } from './vault.ts'
import { type ChangeVault, type CreateVault, newVault, type OneVault } from './vault-requests.ts'
import { changeVault, createVault, deleteVault, listVaults, readVault } from './vault-schemas.ts'
import { type VaultStore, vaultsMax } from './vault-store.ts'

export interface VaultRoutesNeeds {
  readonly vaults: VaultStore
  readonly templates: TemplateStore
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  /** To be told when somebody looks at a vault of another. */
  readonly noteAccess: (vault: Vault) => Promise<void>
  /**
   * To be asked before a vault is deleted, as its provisioning keys end with it.
   *
   * @throws DomainError `insufficient_permissions`
   */
  readonly assertMayEndKeys: (caller: ReturnType<CallerOf>, id: VaultId) => Promise<void>
  readonly posts: Posts
  readonly callerOf: CallerOf
}

interface ListVaults {
  Querystring: QueryOf<typeof listVaults.querystring>
}

export function vaultRoutes(needs: VaultRoutesNeeds): FastifyPluginAsync {
  const { vaults, lifecycle, callerOf } = needs
  return async (app) => {
    app.post<CreateVault>(
      '/vaults',
      {
        schema: createVault,
        config: {
          scope: 'vaults:write',
          errors: ['conflict', 'missing_required_streams', 'not_found'],
        },
      },
      (request, reply) => create(needs, request, reply),
    )

    app.get<ListVaults>(
      '/vaults',
      { schema: listVaults, config: { scope: 'vaults:read' } },
      async (request, reply) => {
        const caller = callerOf(request)
        return caller.interface === 'bearer'
          ? bearerList(vaults, caller.userId, { request, reply })
          : pagedList(vaults, caller.userId, request.query)
      },
    )

    app.get<OneVault>(
      '/vaults/:vaultId',
      // That a vault was looked at is an event, which is written down.
      { schema: readVault, config: { scope: 'vaults:read', errors: ['data_folder_gone'] } },
      async (request) => {
        const { userId } = callerOf(request)
        const vault = await visibleVault(vaults, userId, request.params.vaultId)
        if (vault.ownerId !== userId) await needs.noteAccess(vault)
        return vaultBody(vault)
      },
    )

    app.put<ChangeVault>(
      '/vaults/:vaultId',
      { schema: changeVault, config: { scope: 'vaults:write' } },
      async (request) => {
        const actor = callerOf(request)
        const vault = await ownVault(vaults, actor.userId, request.params.vaultId)
        const changed = { ...vault, ...request.body }
        const event = { event: 'vault.updated', ...subjectOf(changed), actor } as const
        await vaults.change(vault, request.body, ...lifecycle.record(event))
        return vaultBody(await visibleVault(vaults, actor.userId, vault.id))
      },
    )

    app.delete<OneVault>(
      '/vaults/:vaultId',
      { schema: deleteVault, config: { scope: 'vaults:write', errors: ['conflict'] } },
      async (request, reply) => {
        const actor = callerOf(request)
        const vault = await ownVault(vaults, actor.userId, request.params.vaultId)
        await needs.assertMayEndKeys(actor, vault.id)
        await remove(needs, vault, actor)
        return reply.code(204).send()
      },
    )
  }
}

async function create(
  { vaults, templates, lifecycle, posts, callerOf }: VaultRoutesNeeds,
  request: FastifyRequest<CreateVault>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const actor = callerOf(request)
  const { userId } = actor
  return await posts.answer({ request, reply, userId }, async () => {
    const template = await visibleTemplate(templates, userId, request.body.template_id)
    assertStreams(template)
    const { vault, changes } = vaults.plan(userId, newVault(request.body, template.id), template)
    return {
      statusCode: 201,
      body: vaultBody(vault),
      changes: [
        ...changes,
        ...lifecycle.record({
          event: 'vault.created',
          ...subjectOf(vault),
          actor,
          notice: noticeOf(vault),
        }),
      ],
      refusal: async () => {
        await visibleTemplate(templates, userId, template.id)
        if (!(await vaults.hasRoom(userId))) {
          return new DomainError('conflict', `a user can have ${vaultsMax} vaults at most`)
        }
        return new DomainError('conflict', 'the template was changed meanwhile: try again')
      },
    }
  })
}

/** @throws DomainError `missing_required_streams` naming them (decisions.md#required-streams) */
function assertStreams({ requiredStreams }: Template): void {
  // Asset streams come in a later version: until then nobody has one, so every one is missing.
  if (requiredStreams.length === 0) return
  throw new DomainError(
    'missing_required_streams',
    `the template needs asset streams that you do not have: ${requiredStreams.join(', ')}`,
    {
      details: requiredStreams.map((code) => ({
        path: 'template_id',
        message: `needs the asset stream ${code}`,
      })),
    },
  )
}

/** @throws DomainError `not_found` */
export async function visibleVault(
  vaults: VaultStore,
  userId: UserId,
  text: string,
): Promise<Vault> {
  const id = parseId<VaultId>(text)
  const vault = id && (await vaults.findVisible(userId, id))
  if (!vault) throw new DomainError('not_found', `no vault ${text}`)
  return vault
}

/** @throws DomainError `not_found`, or `insufficient_permissions` for somebody else's public vault */
export async function ownVault(vaults: VaultStore, userId: UserId, text: string): Promise<Vault> {
  const vault = await visibleVault(vaults, userId, text)
  assertOwn(userId, vault, 'vault')
  return vault
}

/** What an event of a vault is about. */
function subjectOf({ ownerId, id, name }: Vault) {
  return { ownerId, resourceId: id, name }
}

/** What whoever is told of a vault gets to know. */
function noticeOf(vault: Vault) {
  return { vaultId: vault.id, templateId: vault.templateId, data: vaultBody(vault) }
}

async function remove(
  { vaults, lifecycle }: VaultRoutesNeeds,
  vault: Vault,
  actor: LifecycleEvent['actor'],
): Promise<void> {
  const notice = noticeOf(vault)
  const event = { event: 'vault.deleted', ...subjectOf(vault), actor, notice } as const
  if (await vaults.remove(vault, ...lifecycle.record(event))) return
  await visibleVault(vaults, vault.ownerId, vault.id)
  throw new DomainError('conflict', 'the vault has data streams: remove them first')
}

async function pagedList(
  vaults: VaultStore,
  userId: UserId,
  query: ListVaults['Querystring'],
): Promise<object> {
  refuseUnknownParameters(query, Object.keys(pageQuery))
  const page = pageRequest(query)
  const found = await vaults.listPage(userId, sliceOf(page))
  return envelope(found.vaults.map(vaultBody), found.total, page)
}

/** A JSON array; the next page is in the Link header (decisions.md#lists). */
async function bearerList(
  vaults: VaultStore,
  userId: UserId,
  exchange: { readonly request: FastifyRequest<ListVaults>; readonly reply: FastifyReply },
): Promise<object> {
  const { query } = exchange.request
  refuseUnknownParameters(query, Object.keys(cursorQuery))
  const page = cursorRequest(query)
  const found = await vaults.listAfter(userId, page.after, page.limit + 1)
  return cursorPage(found, page, exchange).map(bearerVaultBody)
}
