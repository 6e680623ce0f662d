import type { FastifyPluginAsync } from 'fastify'
import type { Compilable } from 'kysely'
import { retriedAnchors } from '../../anchors/intents/retried-anchors.ts'
import type { Clocks } from '../../core/clock.ts'
import { changedMeanwhile, conflict } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import { type AddOperation, operationsOf } from '../../requests/operations/operation.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { assetStreamSchema } from '../asset-streams/asset-stream-api.ts'
import { assetStreamBody } from '../asset-streams/asset-stream-body.ts'
import { ownAssetStream, writableAssetStream } from '../asset-streams/asset-stream-routes.ts'
import type { AssetStreamStore } from '../asset-streams/asset-stream-store.ts'
import { assetSchema } from '../assets/asset-api.ts'
import { assetBody } from '../assets/asset-body.ts'
import { visibleAsset } from '../assets/asset-routes.ts'
import type { AssetStore } from '../assets/asset-store.ts'
import { attachmentSchema } from '../attachments/attachment-api.ts'
import { attachmentBody } from '../attachments/attachment-body.ts'
import { writableAttachment } from '../attachments/attachment-routes.ts'
import type { AttachmentStore } from '../attachments/attachment-store.ts'
import { errorStatus, statusBeforeError } from '../progress/progress.ts'
import type { Seen } from '../rights/right.ts'
import { type Looking, stillAllowed } from '../rights/shared-rows.ts'
import { signatureSchema } from '../signatures/signature-api.ts'
import { signatureBody } from '../signatures/signature-body.ts'
import { visibleSignature } from '../signatures/signature-routes.ts'
import type { SignatureStore } from '../signatures/signature-store.ts'
import { vaultSchema } from '../vaults/vault-api.ts'
import { type ShownVaultNeeds, shownVault, writableVault } from '../vaults/vault-routes.ts'
import type { VaultStore } from '../vaults/vault-store.ts'

export interface RetryRoutesNeeds extends ShownVaultNeeds {
  readonly state: StateDatabase
  readonly clock: Clocks
  readonly vaults: VaultStore
  readonly assetStreams: AssetStreamStore
  readonly attachments: AttachmentStore
  readonly signatures: SignatureStore
  readonly assets: AssetStore
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** What is not anchored in time can be tried again. */
export function retryRoutes(needs: RetryRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    addOfVaults(operationsOf(app, { ...needs, tags: ['Vaults'] }), needs)
    addOfStreams(operationsOf(app, { ...needs, tags: ['Streams'] }), needs)
    addOfAttachments(operationsOf(app, { ...needs, tags: ['Attachments'] }), needs)
    addOfSignatures(operationsOf(app, { ...needs, tags: ['Signatures'] }), needs)
    addOfAssets(operationsOf(app, { ...needs, tags: ['Streams'] }), needs)
  }
}

const description = 'Of one in the status ERROR. What is signed is never signed again.'

function addOfVaults(add: AddOperation, needs: RetryRoutesNeeds): void {
  const { vaults } = needs
  add('POST /vaults/:vaultId/retry', {
    operationId: 'retryVault',
    summary: 'Try again to anchor a vault.',
    description,
    scope: 'vaults:write',
    answers: { 202: vaultSchema },
    errors: ['conflict'],
    effect: async ({ caller, params }) => {
      const find = () => writableVault(vaults, caller.userId, params.vaultId)
      const vault = await find()
      const retrying = { table: 'vaults', resource: vault, sharedId: vault.id } as const
      const { resource, changes } = retried(needs, retrying, { ...caller, right: vault.right })
      const body = await shownVault(needs, resource, caller)
      return { statusCode: 202, body, changes, refusal: refusalOf(find) }
    },
  })
}

function addOfStreams(add: AddOperation, needs: RetryRoutesNeeds): void {
  const { assetStreams } = needs
  add('POST /streams/:streamId/retry', {
    operationId: 'retryStream',
    summary: 'Try again to anchor an asset stream.',
    description,
    scope: 'streams:write',
    answers: { 202: assetStreamSchema },
    errors: ['conflict'],
    effect: async ({ caller, params }) => {
      const find = () => writableAssetStream(assetStreams, caller.userId, params.streamId)
      const stream = await find()
      const retrying = { table: 'asset_streams', resource: stream, sharedId: stream.id } as const
      const { resource, changes } = retried(needs, retrying, { ...caller, right: stream.right })
      const body = assetStreamBody(resource)
      return { statusCode: 202, body, changes, refusal: refusalOf(find) }
    },
  })
}

function addOfAttachments(add: AddOperation, needs: RetryRoutesNeeds): void {
  const { attachments } = needs
  add('POST /attachments/:attachmentId/retry', {
    operationId: 'retryAttachment',
    summary: 'Try again to anchor the files of an attachment.',
    description,
    scope: 'attachments:write',
    answers: { 202: attachmentSchema },
    errors: ['conflict'],
    effect: async ({ caller, params }) => {
      const find = () => writableAttachment(attachments, caller.userId, params.attachmentId)
      const found = await find()
      const { attachment, stream, right } = found
      const retrying = { table: 'attachments', resource: attachment, sharedId: stream.id } as const
      const { resource, changes } = retried(needs, retrying, { ...caller, right })
      const body = attachmentBody({ ...found, attachment: resource })
      return { statusCode: 202, body, changes, refusal: refusalOf(find) }
    },
  })
}

function addOfSignatures(add: AddOperation, needs: RetryRoutesNeeds): void {
  const { attachments } = needs
  add('POST /attachments/:attachmentId/signatures/:signatureId/retry', {
    operationId: 'retrySignature',
    summary: 'Try again to anchor a signature.',
    description,
    scope: 'attachments:write',
    answers: { 202: signatureSchema },
    errors: ['conflict'],
    effect: async ({ caller, params }) => {
      const find = async () => {
        await writableAttachment(attachments, caller.userId, params.attachmentId)
        return await visibleSignature(needs, caller.userId, params)
      }
      const { shown, stream, right } = await find()
      const retrying = {
        table: 'signatures',
        resource: shown.signature,
        sharedId: stream.id,
      } as const
      const { resource, changes } = retried(needs, retrying, { ...caller, right })
      const body = signatureBody({ ...shown, signature: resource })
      return { statusCode: 202, body, changes, refusal: refusalOf(find) }
    },
  })
}

function addOfAssets(add: AddOperation, needs: RetryRoutesNeeds): void {
  const { assetStreams } = needs
  add('POST /streams/:streamId/assets/:assetId/retry', {
    operationId: 'retryAsset',
    summary: 'Try again to issue an asset.',
    description: `${description} It goes on with the step that was not done.`,
    scope: 'streams:write',
    answers: { 202: assetSchema },
    errors: ['conflict'],
    effect: async ({ caller, params }) => {
      const find = async () => {
        await ownAssetStream(assetStreams, caller.userId, params.streamId)
        return await visibleAsset(needs, caller.userId, params)
      }
      const { asset, stream } = await find()
      const retrying = { table: 'assets', resource: asset, sharedId: stream.id } as const
      const { resource, changes } = retried(needs, retrying, { ...caller, right: stream.right })
      return { statusCode: 202, body: assetBody(resource), changes, refusal: refusalOf(find) }
    },
  })
}

/** What can be tried again. */
interface Retryable {
  readonly id: string
  readonly status: string
  readonly progress: string
  readonly failure: string | null
}

interface Retrying<Resource extends Retryable> {
  readonly table: 'asset_streams' | 'assets' | 'attachments' | 'signatures' | 'vaults'
  readonly resource: Resource
  /** What a permission to try it again is for. */
  readonly sharedId: string
}

/**
 * A resource as it is while it is tried again, in the status that it had before, with the changes for that.
 *
 * @throws DomainError `conflict` for one in another status than ERROR
 */
function retried<Resource extends Retryable>(
  needs: Pick<RetryRoutesNeeds, 'state' | 'clock'>,
  { table, resource, sharedId }: Retrying<Resource>,
  { userId, right }: Pick<Looking & Seen, 'userId' | 'right'>,
): { readonly resource: Resource; readonly changes: readonly Compilable[] } {
  const { id, status, progress } = resource
  if (status !== errorStatus)
    throw conflict(
      `its status is ${status}, and not ${errorStatus}`,
      `Only what has the status ${errorStatus} is tried again; anything else goes on by itself. docs/anchoring.md has the states.`,
    )
  const before = statusBeforeError(progress)
  const nowUs = needs.clock.nowUs()
  const change = needs.state
    .updateTable(table)
    .set({ status: before, failure: null })
    .where('id', '=', id)
    .where('status', '=', errorStatus)
  return {
    resource: { ...resource, status: before, failure: null },
    changes: [
      change,
      ...stillAllowed(needs.state, { userId, right, nowUs }, sharedId),
      retriedAnchors(needs, id),
    ],
  }
}

/** Why nothing was changed: it is gone, or something has come of it after all. */
function refusalOf(find: () => Promise<unknown>): () => Promise<DomainError> {
  return async () => {
    await find()
    return changedMeanwhile(
      'it',
      'GET /vaults/{vaultId}, GET /streams/{streamId} or GET /attachments/{attachmentId}',
    )
  }
}
