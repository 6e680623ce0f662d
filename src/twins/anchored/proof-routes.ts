import type { FastifyPluginAsync } from 'fastify'
import { metadataOf } from '../../anchors/metadata/metadata-rows.ts'
import { type AnchorProofs, proofOfRecord } from '../../anchors/proofs/anchor-proofs.ts'
import { proofSchema, signatureProofSchema } from '../../anchors/proofs/proof-api.ts'
import { conflict } from '../../core/conflict.ts'
import { DomainError, invalidParameter } from '../../core/errors.ts'
import { parseCid } from '../../ledgers/proofs/content-id.ts'
import type { Proof } from '../../ledgers/proofs/proof.ts'
import {
  type SignatureProof,
  signatureProofFormat,
} from '../../ledgers/signatures/signature-proof.ts'
import { query, text } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import { operationsOf } from '../../requests/operations/operation.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { visibleAssetStream } from '../asset-streams/asset-stream-routes.ts'
import type { AssetStreamStore } from '../asset-streams/asset-stream-store.ts'
import { visibleAsset } from '../assets/asset-routes.ts'
import type { AssetStore } from '../assets/asset-store.ts'
import { visibleAttachment } from '../attachments/attachment-routes.ts'
import type { AttachmentStore } from '../attachments/attachment-store.ts'
import { visibleSignature } from '../signatures/signature-routes.ts'
import type { SignatureStore } from '../signatures/signature-store.ts'
import { visibleVault } from '../vaults/vault-routes.ts'
import type { VaultStore } from '../vaults/vault-store.ts'

export interface ProofRoutesNeeds {
  readonly state: StateDatabase
  readonly proofs: Pick<AnchorProofs, 'ofResource'>
  readonly vaults: VaultStore
  readonly assetStreams: AssetStreamStore
  readonly attachments: AttachmentStore
  readonly signatures: SignatureStore
  readonly assets: AssetStore
  readonly callerOf: CallerOf
}

/** Proofs of what is anchored, for whoever may see it. */
export function proofRoutes(needs: ProofRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    addOfVaults(operationsOf(app, { ...needs, tags: ['Vaults'] }), needs)
    addOfStreams(operationsOf(app, { ...needs, tags: ['Streams'] }), needs)
    addOfAttachments(operationsOf(app, { ...needs, tags: ['Attachments'] }), needs)
    addOfSignatures(operationsOf(app, { ...needs, tags: ['Signatures'] }), needs)
    addOfAssets(operationsOf(app, { ...needs, tags: ['Streams'] }), needs)
  }
}

type Add = ReturnType<typeof operationsOf>

const description =
  'Before it is final on the ledger, what is known so far: `final` is false. To check it takes the public key of the ledger, from another place.'

const proofQuery = query({
  cid: {
    ...text,
    description: 'One of all CIDs that were anchored of it; without it, what it was made with.',
  },
})

function addOfVaults(add: Add, { proofs, vaults }: ProofRoutesNeeds): void {
  add('GET /vaults/:vaultId/proof', {
    operationId: 'readVaultProof',
    summary: 'Read the proof of a vault.',
    description: `${description} An image of its own that came later has a proof of its own, by its CID.`,
    scope: 'vaults:read',
    query: proofQuery,
    answers: { 200: proofSchema },
    errors: ['conflict'],
    handler: async ({ caller, params, query: { cid } }) => {
      const { id } = await visibleVault(vaults, caller.userId, params.vaultId)
      return await proofOf(proofs, id, cid)
    },
  })
}

function addOfStreams(add: Add, { proofs, assetStreams }: ProofRoutesNeeds): void {
  add('GET /streams/:streamId/proof', {
    operationId: 'readStreamProof',
    summary: 'Read the proof of an asset stream.',
    description,
    scope: 'streams:read',
    query: proofQuery,
    answers: { 200: proofSchema },
    errors: ['conflict'],
    handler: async ({ caller, params, query: { cid } }) => {
      const { id } = await visibleAssetStream(assetStreams, caller.userId, params.streamId)
      return await proofOf(proofs, id, cid)
    },
  })
}

function addOfAttachments(add: Add, { proofs, attachments }: ProofRoutesNeeds): void {
  add('GET /attachments/:attachmentId/proof', {
    operationId: 'readAttachmentProof',
    summary: 'Read the proof of the files of an attachment.',
    description,
    scope: 'attachments:read',
    query: proofQuery,
    answers: { 200: proofSchema },
    errors: ['conflict'],
    handler: async ({ caller, params, query: { cid } }) => {
      const { attachment } = await visibleAttachment(
        attachments,
        caller.userId,
        params.attachmentId,
      )
      return await proofOf(proofs, attachment.id, cid)
    },
  })
}

function addOfSignatures(add: Add, needs: ProofRoutesNeeds): void {
  const { state, proofs } = needs
  add('GET /attachments/:attachmentId/signatures/:signatureId/proof', {
    operationId: 'readSignatureProof',
    summary: 'Read the proof of a signature.',
    description: `${description} It has the signature itself, too: who keeps it needs nothing else to check both.`,
    scope: 'attachments:read',
    answers: { 200: signatureProofSchema },
    errors: ['conflict'],
    handler: async ({ caller, params }): Promise<SignatureProof> => {
      const { shown } = await visibleSignature(needs, caller.userId, params)
      const { id } = shown.signature
      const [proof, metadata] = await Promise.all([
        proofOf(proofs, id, undefined),
        metadataOf(state, id),
      ])
      const said = Buffer.from(metadata?.bytes ?? []).toString()
      return { format: signatureProofFormat, metadata: said, proof }
    },
  })
}

function addOfAssets(add: Add, needs: ProofRoutesNeeds): void {
  add('GET /streams/:streamId/assets/:assetId/proof', {
    operationId: 'readAssetProof',
    summary: 'Read the proof of an asset.',
    description: `${description} It is that of the transaction that the asset comes to be with, and says what the ledger calls it.`,
    scope: 'streams:read',
    answers: { 200: proofSchema },
    errors: ['conflict'],
    handler: async ({ caller, params }) => {
      const { asset } = await visibleAsset(needs, caller.userId, params)
      return await proofOf(needs.proofs, asset.id, undefined)
    },
  })
}

/**
 * @throws DomainError `conflict` as long as nothing of it is to be anchored, `invalid_request` for what is no CID,
 *   `not_found` for that of something else
 */
async function proofOf(
  proofs: ProofRoutesNeeds['proofs'],
  resourceId: string,
  cid: string | undefined,
): Promise<Proof> {
  if (cid !== undefined) {
    const parsed = await parseCid(cid)
    if ('problem' in parsed) throw invalidParameter('cid', parsed.problem)
  }
  const record = await proofs.ofResource(resourceId, cid)
  if (record) return proofOfRecord(record, { isAlone: false })
  if (cid !== undefined)
    throw new DomainError('not_found', `no anchor of ${cid}`, {
      remedy:
        'Leave cid out for the newest anchor, or take one from the metadata of the same resource.',
    })
  throw conflict(
    'there is nothing to be anchored yet: ask again later',
    'Wait until status of the resource has gone on from its first state; GET /vaults/{vaultId} or GET /attachments/{attachmentId} shows it.',
  )
}
