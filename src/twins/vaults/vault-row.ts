import type { Selectable } from 'kysely'
import type { TemplateId, UserId, VaultId } from '../../core/ids.ts'
import type { Ledger } from '../../core/ledger.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import type { ListedVault, Vault } from './vault.ts'

export const listedColumns = [
  'id',
  'owner_id',
  'created_at',
  'template_id',
  'name',
  'description',
  'status',
  'ledger',
  'public',
] as const

/** A vault, made of what is stored. */
export function fromRow(row: Selectable<StateSchema['vaults']>): Vault {
  return {
    ...fromListedRow(row),
    network: row.network,
    txHash: row.tx_hash,
    nftNetworkIssuer: row.nft_network_issuer,
    nftNetworkOwner: row.nft_network_owner,
    nftNetworkId: row.nft_network_id,
    cid: row.cid,
    metadataCid: row.metadata_cid,
    progress: row.progress,
    failure: row.failure,
    jsonPayload: row.json_payload,
    defaultImageCid: row.default_image_cid,
    imageCid: row.image_cid,
    imageUploads: row.image_uploads,
  }
}

/** What lists of the token interface tell of a vault, made of what is stored. */
export function fromListedRow(
  row: Pick<StateSchema['vaults'], (typeof listedColumns)[number]>,
): ListedVault {
  return {
    id: row.id as VaultId,
    ownerId: row.owner_id as UserId,
    createdAtUs: row.created_at,
    templateId: row.template_id as TemplateId,
    name: row.name,
    description: row.description,
    status: row.status,
    ledger: row.ledger as Ledger,
    public: row.public === 1,
  }
}
