import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import { failureBody, progressBody } from '../progress/progress.ts'
import type { AssetStream } from './asset-stream.ts'
import type { assetStreamSchema } from './asset-stream-api.ts'

/** The asset stream as the specification names its fields. */
export function assetStreamBody(stream: AssetStream): Static<typeof assetStreamSchema> {
  return {
    id: stream.id,
    created_at: formatUs(stream.createdAtUs),
    asset_code: stream.assetCode,
    description: stream.description,
    ledger: stream.ledger,
    tx_hash: stream.txHash,
    status: stream.status,
    issuer: stream.issuer,
    distribution_wallet: stream.distributionWallet,
    mapping: stream.mapping,
    metadata_cid: stream.metadataCid,
    progress: progressBody(stream.progress),
    failure: failureBody(stream.failure),
  }
}
