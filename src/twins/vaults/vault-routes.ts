import type { FastifyPluginAsync } from 'fastify'
import type { Static } from 'typebox'
import { type ConfiguredNetworks, chosenNetwork } from '../../anchors/intents/chosen-network.ts'
import { changedMeanwhile, conflict, noRoom } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import { parseId, type UserId, type VaultId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import { type Downloads, downloadErrors } from '../../files/downloads/downloads.ts'
import { imageBytesMax } from '../../files/uploads/image-uploads.ts'
import type { UploadUrls } from '../../files/uploads/upload-urls.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import { noContent } from '../../requests/http/schema.ts'
import { fileAnswers } from '../../requests/http/sent-bytes.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { type AddOperation, operationsOf } from '../../requests/operations/operation.ts'
import * as lists from '../../requests/operations/two-lists.ts'
import type { AssetStream } from '../asset-streams/asset-stream.ts'
import type { assetStreamSchema } from '../asset-streams/asset-stream-api.ts'
import { assetStreamBody } from '../asset-streams/asset-stream-body.ts'
import type { AssetStreamStore } from '../asset-streams/asset-stream-store.ts'
import { assertOwned, assertWritable } from '../rights/right.ts'
import type { Template } from '../templates/template.ts'
import { visibleTemplate } from '../templates/template-routes.ts'
import type { TemplateStore } from '../templates/template-store.ts'
import type { SeenVault, Vault, VaultChange } from './vault.ts'
import * as api from './vault-api.ts'
import { bearerVaultBody, vaultBody } from './vault-body.ts'
import type { VaultPage } from './vault-lists.ts'
import { type VaultStore, vaultsMax } from './vault-store.ts'

export interface VaultRoutesNeeds {
  readonly vaults: VaultStore
  readonly templates: TemplateStore
  readonly assetStreams: Pick<AssetStreamStore, 'withCodes' | 'ofVaults'>
  /** Gives asset streams from before there were anchors what a vault refers to. */
  readonly withMetadata: (streams: readonly AssetStream[]) => Promise<readonly AssetStream[]>
  readonly uploadUrls: UploadUrls
  readonly downloads: Downloads
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  readonly networks: ConfiguredNetworks
  /** Called when contents may have become unused. */
  readonly onReleased: () => void
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

export function vaultRoutes(needs: VaultRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Vaults'] })
    addReading(add, needs)
    addChanging(add, needs)
  }
}

function addReading(add: AddOperation, needs: VaultRoutesNeeds): void {
  add('GET /vaults', {
    operationId: 'listVaults',
    summary: "List one's own vaults, and those that others share.",
    description: `${lists.twoListsNote} \`contains\` is for bearer tokens.`,
    scope: 'vaults:read',
    query: api.vaultsQuery,
    answers: { 200: lists.twoListsOf(api.bearerVaultSchema, api.vaultSchema) },
    handler: (exchange) => {
      const { userId } = exchange.caller
      const { contains } = exchange.query
      return lists.answerTwoLists(exchange, {
        filters: ['contains'],
        after: (after, limit) => needs.vaults.listAfter(userId, { after, limit, contains }),
        bearerBody: bearerVaultBody,
        page: async (slice) =>
          withStreams(needs, exchange.caller, await needs.vaults.listPage(userId, slice)),
        keyBody: ({ vault, streams, url }) => vaultBody(vault, streams, url),
      })
    },
  })

  add('GET /vaults/:vaultId', {
    operationId: 'readVault',
    summary: 'Read a vault.',
    description: "One's own, one that its owner shares, or a public one.",
    scope: 'vaults:read',
    answers: { 200: api.vaultSchema },
    // That a vault was looked at is an event, which is written down.
    errors: ['data_folder_gone'],
    handler: async ({ caller, params }) => {
      const vault = await visibleVault(needs.vaults, caller.userId, params.vaultId)
      if (vault.ownerId !== caller.userId) await needs.noteAccess(vault)
      return await shownVault(needs, vault, caller)
    },
  })

  add('GET /vaults/:vaultId/image', {
    operationId: 'downloadVaultImage',
    summary: "Load the image of a vault: its own, or else its template's.",
    scope: 'vaults:read',
    takesCookieAlone: true,
    answers: fileAnswers,
    errors: downloadErrors,
    handler: async ({ caller, params, request, reply }) => {
      const vault = await visibleVault(needs.vaults, caller.userId, params.vaultId)
      const cid = vault.imageCid === '' ? vault.defaultImageCid : vault.imageCid
      return await needs.downloads.sendContent({ cid, name: vault.name }, { request, reply })
    },
  })
}

function addChanging(add: AddOperation, needs: VaultRoutesNeeds): void {
  add('POST /vaults', {
    operationId: 'createVault',
    summary: 'Create a vault from a template.',
    scope: 'vaults:write',
    body: api.newVaultSchema,
    answers: { 201: api.vaultSchema },
    errors: ['conflict', 'missing_required_streams', 'not_found'],
    effect: ({ caller, body }) => creation(needs, caller, body),
  })

  add('PUT /vaults/:vaultId', {
    operationId: 'changeVault',
    summary: 'Change a vault.',
    description:
      'What is not sent keeps its value. Template, ledger and payload are what gets anchored: they stay. A permission to WRITE is enough, but for `public`.',
    scope: 'vaults:write',
    body: api.vaultChangeSchema,
    answers: { 200: api.vaultSchema },
    handler: async ({ caller, params, body }) => {
      const vault = await writableVault(needs.vaults, caller.userId, params.vaultId)
      // Showing it to everybody is sharing it.
      if (body.public !== undefined && body.public !== vault.public) assertOwned(vault, 'vault')
      const changed = await change(needs, { vault, actor: caller }, body)
      return await shownVault(needs, changed, caller)
    },
  })

  add('DELETE /vaults/:vaultId', {
    operationId: 'deleteVault',
    summary: 'Delete a vault.',
    description: 'One without data streams and fleets.',
    scope: 'vaults:write',
    answers: { 204: noContent },
    errors: ['conflict'],
    handler: async ({ caller, params }) => {
      const vault = await ownVault(needs.vaults, caller.userId, params.vaultId)
      await needs.assertMayEndKeys(caller, vault.id)
      const removed = await remove(needs, { vault, actor: caller })
      needs.onReleased()
      return removed
    },
  })
}

async function creation(
  needs: VaultRoutesNeeds,
  actor: ReturnType<CallerOf>,
  body: Static<typeof api.newVaultSchema>,
) {
  const { vaults, templates, assetStreams, lifecycle } = needs
  const { userId } = actor
  const visible = await visibleTemplate(templates, userId, body.template_id)
  const template = await templates.withMetadata(visible)
  const required = await requiredStreams(assetStreams, userId, template)
  const streams = await needs.withMetadata(required)
  const wanted = api.newVault(body, template.id)
  const network = chosenNetwork(actor.apiKeyId, wanted.ledger, needs.networks)
  const { vault, changes } = await vaults.plan(userId, wanted, { template, streams, network })
  const shown = streams.map(assetStreamBody)
  const event = {
    event: 'vault.created',
    ...subjectOf(vault),
    actor,
    notice: noticeOf(vault, shown),
  } as const
  return {
    statusCode: 201,
    body: vaultBody(vault, shown, await imageUrlOf(needs, { ...vault, right: 'own' }, actor)),
    changes: [...changes, ...lifecycle.record(event)],
    refusal: async () => {
      const now = await visibleTemplate(templates, userId, template.id)
      await requiredStreams(assetStreams, userId, now)
      if (!(await vaults.hasRoom(userId))) {
        return noRoom(`a user can have ${vaultsMax} vaults at most`, 'DELETE /vaults/{vaultId}')
      }
      const what = 'the template or one of its asset streams'
      return changedMeanwhile(what, 'GET /templates/{templateId}')
    },
  }
}

/**
 * The caller's asset streams that a template requires, in its order.
 *
 * @throws DomainError `missing_required_streams` naming them (decisions.md#required-streams)
 */
async function requiredStreams(
  assetStreams: VaultRoutesNeeds['assetStreams'],
  userId: UserId,
  { requiredStreams: codes }: Template,
): Promise<readonly AssetStream[]> {
  const streams = await assetStreams.withCodes(userId, codes)
  const known = new Set(streams.map(({ assetCode }) => assetCode))
  const missing = codes.filter((code) => !known.has(code))
  if (missing.length === 0) return streams
  throw new DomainError(
    'missing_required_streams',
    `the template needs asset streams that you do not have: ${missing.join(', ')}`,
    {
      details: missing.map((code) => ({
        path: 'template_id',
        message: `needs the asset stream ${code}`,
      })),
    },
  )
}

type ShownStream = Static<typeof assetStreamSchema>

/** What a vault lists, as it is shown. */
async function streamsOf(
  assetStreams: VaultRoutesNeeds['assetStreams'],
  { id }: Vault,
): Promise<readonly ShownStream[]> {
  return ((await assetStreams.ofVaults([id])).get(id) ?? []).map(assetStreamBody)
}

/** What it takes to show a vault. */
export type ShownVaultNeeds = Pick<VaultRoutesNeeds, 'assetStreams' | 'uploadUrls'>

/** A vault as a caller sees it. */
export async function shownVault(
  needs: ShownVaultNeeds,
  vault: SeenVault,
  caller: ReturnType<CallerOf>,
) {
  const url = await imageUrlOf(needs, vault, caller)
  return vaultBody(vault, await streamsOf(needs.assetStreams, vault), url)
}

/**
 * The vaults of a page, each with what it lists: one statement for all of them, and each asset
 * stream shown once.
 */
async function withStreams(
  needs: VaultRoutesNeeds,
  caller: ReturnType<CallerOf>,
  { items, total }: VaultPage,
) {
  const listed = await needs.assetStreams.ofVaults(items.map(({ id }) => id))
  const all = new Set([...listed.values()].flat())
  const bodies = new Map([...all].map((stream) => [stream, assetStreamBody(stream)]))
  const shown = items.map(async (vault) => ({
    vault,
    streams: (listed.get(vault.id) ?? []).flatMap((stream) => bodies.get(stream) ?? []),
    url: await imageUrlOf(needs, vault, caller),
  }))
  return { items: await Promise.all(shown), total }
}

/** An image may be replaced by another one. */
async function imageUrlOf(
  { uploadUrls }: ShownVaultNeeds,
  { id, imageUploads, right }: SeenVault,
  caller: ReturnType<CallerOf>,
): Promise<string> {
  if (right === 'read') return ''
  const subject = {
    purpose: 'vault-image',
    resourceId: id,
    turn: imageUploads + 1,
    holderId: right === 'own' ? undefined : caller.userId,
  } as const
  return await uploadUrls.urlFor(caller, subject, imageBytesMax)
}

/** @throws DomainError `not_found` */
export async function visibleVault(
  vaults: VaultStore,
  userId: UserId,
  text: string,
): Promise<SeenVault> {
  const id = parseId<VaultId>(text)
  const vault = id && (await vaults.findVisible(userId, id))
  if (!vault) throw notFound('vault', text)
  return vault
}

/**
 * A vault for whatever its owner alone may do.
 *
 * @throws DomainError `not_found`, or `insufficient_permissions` for one of somebody else that the user sees
 */
export async function ownVault(
  vaults: VaultStore,
  userId: UserId,
  text: string,
): Promise<SeenVault> {
  const vault = await visibleVault(vaults, userId, text)
  assertOwned(vault, 'vault')
  return vault
}

/**
 * A vault for what somebody with a permission to WRITE may do, too.
 *
 * @throws DomainError `not_found`, or `insufficient_permissions` for one that the user can only see
 */
export async function writableVault(
  vaults: VaultStore,
  userId: UserId,
  text: string,
): Promise<SeenVault> {
  const vault = await visibleVault(vaults, userId, text)
  assertWritable(vault, 'vault')
  return vault
}

/** What an event of a vault is about. */
function subjectOf({ ownerId, id, name }: Vault) {
  return { ownerId, resourceId: id, name }
}

/** What whoever is told of a vault gets to know. */
function noticeOf(vault: Vault, streams: readonly ShownStream[]) {
  return { vaultId: vault.id, templateId: vault.templateId, data: vaultBody(vault, streams) }
}

/** A vault that somebody changes. */
interface Changing {
  readonly vault: SeenVault
  readonly actor: ReturnType<CallerOf>
}

async function change(
  { vaults, lifecycle }: VaultRoutesNeeds,
  { vault, actor }: Changing,
  wanted: VaultChange,
): Promise<SeenVault> {
  const { userId } = actor
  const event = { event: 'vault.updated', ...subjectOf({ ...vault, ...wanted }), actor } as const
  await vaults.change(userId, vault, { change: wanted, also: lifecycle.record(event) })
  // It may be gone by now, or the right to change it.
  return await writableVault(vaults, userId, vault.id)
}

async function remove(
  { vaults, assetStreams, lifecycle }: VaultRoutesNeeds,
  { vault, actor }: Changing,
): Promise<null> {
  const notice = noticeOf(vault, await streamsOf(assetStreams, vault))
  const event = { event: 'vault.deleted', ...subjectOf(vault), actor, notice } as const
  if (await vaults.remove(vault, ...lifecycle.record(event))) return null
  await visibleVault(vaults, vault.ownerId, vault.id)
  throw conflict(
    'the vault has data streams or fleets: remove them first',
    'Delete its data streams first with DELETE /streams/{streamId}, and its fleets with DELETE /fleets/{fleetId}; GET /streams and GET /fleets list them by vaultId.',
  )
}
