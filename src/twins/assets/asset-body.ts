import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import { failureBody, progressBody } from '../progress/progress.ts'
import type { Asset } from './asset.ts'
import type { assetSchema } from './asset-api.ts'

/** The asset as the specification names its fields. */
export function assetBody(asset: Asset): Static<typeof assetSchema> {
  return {
    id: asset.id,
    created_at: formatUs(asset.createdAtUs),
    stream_id: asset.streamId,
    supply: asset.supply,
    precision: asset.precision,
    status: asset.status,
    ledger: asset.ledger,
    tx_hash: asset.txHash,
    failure: failureBody(asset.failure),
    progress: progressBody(asset.progress),
  }
}
