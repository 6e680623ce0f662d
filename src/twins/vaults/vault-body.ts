import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import type { assetStreamSchema } from '../asset-streams/asset-stream-api.ts'
import { failureBody, progressBody } from '../progress/progress.ts'
import type { ListedVault, Vault } from './vault.ts'
import type { bearerVaultSchema, vaultSchema } from './vault-api.ts'

/*
 * Bodies stand apart from their shapes, because events of what a ledger has made of a vault have one, too: the thread
 * that writes these has no use for what HTTP checks and documents.
 */

/** The vault as both interfaces of the specification name its fields, with what it lists. */
export function vaultBody(
  vault: Vault,
  streams: readonly Static<typeof assetStreamSchema>[],
  imageUploadUrl = '',
): Static<typeof vaultSchema> {
  const createdAt = formatUs(vault.createdAtUs)
  return {
    id: vault.id,
    created_at: createdAt,
    name: vault.name,
    description: vault.description,
    template_id: vault.templateId,
    status: vault.status,
    ledger: vault.ledger,
    tx_hash: vault.txHash,
    nft_network_issuer: vault.nftNetworkIssuer,
    nft_network_owner: vault.nftNetworkOwner,
    nft_network_id: vault.nftNetworkId,
    cid: vault.cid,
    image_cid: vault.imageCid,
    default_image_cid: vault.defaultImageCid,
    metadata_cid: vault.metadataCid,
    streams,
    public: vault.public,
    json_payload: vault.jsonPayload,
    image_upload_url: imageUploadUrl,
    custom_image: vault.imageCid !== '',
    progress: progressBody(vault.progress),
    failure: failureBody(vault.failure),
  }
}

/** The vault in the token interface's manner. */
export function bearerVaultBody(vault: ListedVault): Static<typeof bearerVaultSchema> {
  return {
    vaultId: vault.id,
    createdAt: formatUs(vault.createdAtUs),
    name: vault.name,
    description: vault.description,
    templateId: vault.templateId,
    status: vault.status,
    ledger: vault.ledger,
    public: vault.public,
  }
}
