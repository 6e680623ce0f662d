import type { TemplateId, UserId, VaultId } from '../../core/ids.ts'
import type { Ledger } from '../../core/ledger.ts'
import type { Seen } from '../rights/right.ts'

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
  /** Where it is anchored. */
  readonly network: string
  readonly status: string
  /** What the ledger knows it by; like what follows empty until it is known. */
  readonly txHash: string
  readonly nftNetworkIssuer: string
  readonly nftNetworkOwner: string
  readonly nftNetworkId: string
  /** The CID of the folder of its metadata, payload and default image. */
  readonly cid: string
  readonly metadataCid: string
  /** The image of its template when it was made; empty without one. */
  readonly defaultImageCid: string
  /** An image of its own; empty without one. */
  readonly imageCid: string
  /** Uploads of an image that were taken. */
  readonly imageUploads: number
  /** As it is stored (src/twins/progress/progress.ts). */
  readonly progress: string
  readonly failure: string | null
}

/** A vault as one user sees it. */
export type SeenVault = Vault & Seen

/** What the lists of the token interface tell of a vault. */
export type ListedVault = Pick<
  Vault,
  'id' | 'ownerId' | 'createdAtUs' | 'templateId' | 'status' | 'ledger' | 'public' | keyof Named
>

type Named = Pick<NewVault, 'name' | 'description'>
