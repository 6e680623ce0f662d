import { encodeMetadata, type Metadata, newSalt } from '../../anchors/metadata/encode-metadata.ts'
import { formatUs } from '../../core/time.ts'
import type { Asset } from './asset.ts'

/** What is anchored of an asset, beside what its ledger itself says. The record that it is of is named by its CID alone. */
export async function assetMetadata(
  {
    streamId,
    supply,
    precision,
    createdAtUs,
  }: Pick<Asset, 'streamId' | 'supply' | 'precision' | 'createdAtUs'>,
  stream: { readonly assetCode: string; readonly metadataCid: string },
): Promise<Metadata> {
  return await encodeMetadata('asset', {
    stream_id: streamId,
    asset_code: stream.assetCode,
    asset_stream: stream.metadataCid,
    supply,
    precision: String(precision),
    created_at: formatUs(createdAtUs),
    salt: newSalt(),
  })
}
