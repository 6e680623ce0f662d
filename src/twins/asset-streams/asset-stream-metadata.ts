import { encodeMetadata, type Metadata, newSalt } from '../../anchors/metadata/encode-metadata.ts'
import { formatUs } from '../../core/time.ts'
import type { AssetStream } from './asset-stream.ts'

/** What is anchored of an asset stream. Only its owner shows it to others, so nobody else may guess the CID. */
export async function assetStreamMetadata(
  stream: Pick<AssetStream, 'assetCode' | 'description' | 'createdAtUs'>,
  salt = newSalt(),
): Promise<Metadata> {
  return await encodeMetadata('asset_stream', {
    asset_code: stream.assetCode,
    description: stream.description,
    created_at: formatUs(stream.createdAtUs),
    salt,
  })
}
