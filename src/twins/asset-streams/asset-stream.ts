import type { AssetStreamId, UserId } from '../../core/ids.ts'
import type { Ledger } from '../../core/ledger.ts'
import type { Seen } from '../rights/right.ts'

/** Asset streams of one user: as many as vaults, and lists stay quick. */
export const assetStreamsMax = 1_000_000

/** The ledger that all of them are meant for. */
export const assetLedger = 'XRPL' satisfies Ledger

/** What a caller says of a new one. */
export interface NewAssetStream {
  readonly assetCode: string
  readonly description: string | null
}

/** What a later request may change. */
export type AssetStreamChange = Pick<NewAssetStream, 'description'>

/** A record of an asset: its code, its issuer and where it is distributed from. */
export interface AssetStream extends NewAssetStream {
  readonly id: AssetStreamId
  readonly ownerId: UserId
  readonly createdAtUs: number
  readonly ledger: Ledger
  /** Where it is anchored. */
  readonly network: string
  readonly status: string
  readonly txHash: string
  readonly issuer: string
  readonly distributionWallet: string
  readonly mapping: string
  readonly metadataCid: string
  /** As it is stored (src/twins/progress/progress.ts). */
  readonly progress: string
  readonly failure: string | null
}

/** An asset stream as one user sees it. */
export type SeenAssetStream = AssetStream & Seen
