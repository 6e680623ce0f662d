import type { AssetId, AssetStreamId, UserId } from '../../core/ids.ts'
import type { Ledger } from '../../core/ledger.ts'

/** Assets of one asset stream: one is alive at most, and the others have failed. */
export const assetsMax = 1_000

/** Decimal places at most: with more, 63 bits leave next to nothing for whole units. */
export const precisionMax = 10

/** Smallest units of all of an asset at most (XLS-33: MaximumAmount has 63 bits). */
const amountMax = 2n ** 63n - 1n

/** What a caller says of a new one. */
export interface NewAsset {
  /** In whole units: decimal text. */
  readonly supply: string
  /** Decimal places of a full unit. */
  readonly precision: number
  /** That of the asset stream unless it says otherwise. */
  readonly ledger: Ledger | undefined
}

/** What is issued for an asset stream, so much and no more. */
export interface Asset extends Omit<NewAsset, 'ledger'> {
  readonly id: AssetId
  /** Whose asset stream it is of. */
  readonly ownerId: UserId
  readonly createdAtUs: number
  readonly streamId: AssetStreamId
  readonly ledger: Ledger
  /** Where it is issued. */
  readonly network: string
  readonly status: string
  /** The transaction that it comes to be with, whatever follows. */
  readonly txHash: string
  readonly metadataCid: string
  /** What the ledger calls it; empty as long as it is not issued. */
  readonly tokenId: string
  /** As it is stored (src/twins/progress/progress.ts). */
  readonly progress: string
  readonly failure: string | null
}

/**
 * All of an asset in its smallest units, as decimal text; undefined where that is more than a ledger has room for.
 *
 * @param supply digits
 */
export function amountOf({ supply, precision }: Pick<Asset, 'supply' | 'precision'>) {
  const amount = BigInt(supply) * 10n ** BigInt(precision)
  return amount > amountMax ? undefined : amount.toString()
}
