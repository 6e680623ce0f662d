import { newId } from '../../src/core/ids.ts'
import type { Deed, DeedKind, IssuedAsset } from '../../src/ledgers/ledger.ts'
import { deedOf } from './sandbox-ledger.ts'

/** An asset that nobody has issued yet; what is not said is usual. */
export function assetOf(said: Partial<IssuedAsset> = {}): IssuedAsset {
  return { streamId: newId(), code: 'GOLD', amount: '1000000', precision: 2, ...said }
}

/** One of the transactions of an asset. */
export async function assetDeed(kind: DeedKind, asset: IssuedAsset): Promise<Deed> {
  return { ...(await deedOf()), kind, asset }
}
