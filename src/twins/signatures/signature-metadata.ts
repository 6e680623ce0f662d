import { encodeMetadata, type Metadata } from '../../anchors/metadata/encode-metadata.ts'
import { formatUs } from '../../core/time.ts'
import { signingText } from '../../ledgers/signatures/signing-text.ts'
import type { Signature } from './signature.ts'

/**
 * What is anchored of a signature: all that it takes to check it, and nothing of the attachment. Whoever has the CID of
 * the content may know it, so there is no salt.
 */
export async function signatureMetadata(signature: Signature): Promise<Metadata> {
  const { algorithm, publicKey, cid } = signature
  return await encodeMetadata('signature', {
    cid,
    algorithm,
    public_key: publicKey,
    signature: signature.signature,
    signed_text: signingText(cid),
    created_at: formatUs(signature.createdAtUs),
  })
}
