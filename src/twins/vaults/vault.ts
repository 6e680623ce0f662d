import type { TemplateId, UserId, VaultId } from '../../core/ids.ts'
import type { Ledger } from '../../core/ledger.ts'
import { formatUs } from '../../core/time.ts'

/** What a caller says of a new vault. */
export interface NewVault {
  readonly templateId: TemplateId
  readonly name: string
  readonly description: string | null
  readonly ledger: Ledger
  readonly jsonPayload: string | null
  readonly public: boolean
}

/**
 * What a later request may change (decisions.md#templates-vaults-data-streams-favorites). Template,
 * ledger and payload are what gets anchored: they stay what they were.
 */
export type VaultChange = Partial<Pick<NewVault, 'name' | 'description' | 'public'>>

/** A digital twin. */
export interface Vault extends NewVault {
  readonly id: VaultId
  readonly ownerId: UserId
  readonly createdAtUs: number
  readonly status: string
}

/** What the lists of the token interface tell of a vault. */
export type ListedVault = Omit<Vault, 'jsonPayload'>

/** The vault as both interfaces of the specification name its fields; it is not anchored yet. */
export function vaultBody(vault: Vault): object {
  const createdAt = formatUs(vault.createdAtUs)
  return {
    id: vault.id,
    created_at: createdAt,
    name: vault.name,
    description: vault.description,
    template_id: vault.templateId,
    status: vault.status,
    ledger: vault.ledger,
    tx_hash: '',
    nft_network_issuer: '',
    nft_network_owner: '',
    nft_network_id: '',
    cid: '',
    image_cid: '',
    default_image_cid: '',
    metadata_cid: '',
    streams: [],
    public: vault.public,
    json_payload: vault.jsonPayload,
    image_upload_url: '',
    custom_image: false,
    progress: [{ step: 1, status: vault.status, completed_at: createdAt }],
  }
}

/** The vault in the token interface's manner. */
export function bearerVaultBody(vault: ListedVault): object {
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
