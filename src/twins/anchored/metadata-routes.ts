import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { metadataOf } from '../../anchors/metadata/metadata-rows.ts'
import { conflict } from '../../core/conflict.ts'
import { streamOf } from '../../core/heard-streams.ts'
import type { Asking } from '../../files/downloads/downloads.ts'
import { fileAnswers, sendBytes } from '../../requests/http/sent-bytes.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { visibleAssetStream } from '../asset-streams/asset-stream-routes.ts'
import type { AssetStreamStore } from '../asset-streams/asset-stream-store.ts'
import { visibleAsset } from '../assets/asset-routes.ts'
import type { AssetStore } from '../assets/asset-store.ts'
import { visibleTemplate } from '../templates/template-routes.ts'
import type { TemplateStore } from '../templates/template-store.ts'
import { visibleVault } from '../vaults/vault-routes.ts'
import type { VaultStore } from '../vaults/vault-store.ts'

/**
 * What the bytes are, and not merely JSON: whoever takes them for that may write them anew, and then they have another
 * CID.
 */
const mediaType = 'application/vnd.ipld.dag-json'

export interface MetadataRoutesNeeds {
  readonly state: StateDatabase
  readonly vaults: VaultStore
  readonly templates: TemplateStore
  readonly assetStreams: AssetStreamStore
  readonly assets: AssetStore
  readonly callerOf: CallerOf
}

/** The metadata of what is anchored: the very bytes that their CID is of. */
export function metadataRoutes(needs: MetadataRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    addOfVaults(operationsOf(app, { ...needs, tags: ['Vaults'] }), needs)
    addOfStreams(operationsOf(app, { ...needs, tags: ['Streams'] }), needs)
    addOfAssets(operationsOf(app, { ...needs, tags: ['Streams'] }), needs)
    addOfTemplates(operationsOf(app, { ...needs, tags: ['Templates'] }), needs)
  }
}

type Add = ReturnType<typeof operationsOf>

const description =
  'Canonical dag-json, byte for byte what its CID is of. It says what was there when it was made: later changes are not in it.'

function addOfVaults(add: Add, { state, vaults }: MetadataRoutesNeeds): void {
  add('GET /vaults/:vaultId/metadata', {
    operationId: 'readVaultMetadata',
    summary: 'Load the metadata of a vault, as they are anchored.',
    description,
    scope: 'vaults:read',
    takesCookieAlone: true,
    answers: fileAnswers,
    errors: ['conflict', 'range_not_satisfiable'],
    handler: async ({ caller, params, request, reply }) => {
      const { id, name } = await visibleVault(vaults, caller.userId, params.vaultId)
      return await sendMetadata(state, { id, name }, { request, reply })
    },
  })
}

function addOfStreams(add: Add, { state, assetStreams }: MetadataRoutesNeeds): void {
  add('GET /streams/:streamId/metadata', {
    operationId: 'readStreamMetadata',
    summary: 'Load the metadata of an asset stream, as they are anchored.',
    description,
    scope: 'streams:read',
    takesCookieAlone: true,
    answers: fileAnswers,
    errors: ['conflict', 'range_not_satisfiable'],
    handler: async ({ caller, params, request, reply }) => {
      const stream = await visibleAssetStream(assetStreams, caller.userId, params.streamId)
      return await sendMetadata(
        state,
        { id: stream.id, name: stream.assetCode },
        { request, reply },
      )
    },
  })
}

function addOfAssets(add: Add, needs: MetadataRoutesNeeds): void {
  add('GET /streams/:streamId/assets/:assetId/metadata', {
    operationId: 'readAssetMetadata',
    summary: 'Load the metadata of an asset, as they are anchored.',
    description,
    scope: 'streams:read',
    takesCookieAlone: true,
    answers: fileAnswers,
    errors: ['conflict', 'range_not_satisfiable'],
    handler: async ({ caller, params, request, reply }) => {
      const { stream, asset } = await visibleAsset(needs, caller.userId, params)
      const named = { id: asset.id, name: `${stream.assetCode} asset` }
      return await sendMetadata(needs.state, named, { request, reply })
    },
  })
}

function addOfTemplates(add: Add, { state, templates }: MetadataRoutesNeeds): void {
  add('GET /templates/:templateId/metadata', {
    operationId: 'readTemplateMetadata',
    summary: 'Load the metadata of a template, which vaults refer to.',
    description,
    scope: 'vaults:read',
    takesCookieAlone: true,
    answers: fileAnswers,
    // A template from before there were metadata gets them now.
    errors: ['conflict', 'data_folder_gone', 'range_not_satisfiable'],
    handler: async ({ caller, params, request, reply }) => {
      const visible = await visibleTemplate(templates, caller.userId, params.templateId)
      const { id, name } = await templates.withMetadata(visible)
      return await sendMetadata(state, { id, name }, { request, reply })
    },
  })
}

/** @throws DomainError `conflict` as long as there are none */
async function sendMetadata(
  state: StateDatabase,
  { id, name }: { readonly id: string; readonly name: string },
  asking: Asking,
): Promise<FastifyReply> {
  const metadata = await metadataOf(state, id)
  if (!metadata)
    throw conflict(
      'its metadata are not made yet: ask again later',
      'Ask again after a few seconds; status of the resource says how far it is. docs/anchoring.md has the states.',
    )
  const { cid, bytes } = metadata
  return await sendBytes(
    {
      bytes: bytes.length,
      etag: cid,
      name: `${name}.json`,
      mediaType,
      read: (range) => streamOf([range ? bytes.subarray(range.first, range.last + 1) : bytes]),
    },
    asking,
  )
}
