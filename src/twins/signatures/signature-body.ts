import type { Static } from 'typebox'
import type { ListedSignature } from '../../anchors/proofs/proof-api.ts'
import { formatUs } from '../../core/time.ts'
import type { SignatureJwk } from '../../ledgers/signatures/signature-key.ts'
import { signingText } from '../../ledgers/signatures/signing-text.ts'
import { failureBody, progressBody } from '../progress/progress.ts'
import type { ShownSignature, Signature } from './signature.ts'
import type { signatureSchema } from './signature-api.ts'

/** A signature as whoever sees its attachment sees it. */
export function signatureBody({
  signature,
  signedBy,
}: ShownSignature): Static<typeof signatureSchema> {
  const { cid, publicKey } = signature
  return {
    id: signature.id,
    created_at: formatUs(signature.createdAtUs),
    attachment_id: signature.attachmentId,
    signed_by: signedBy,
    algorithm: signature.algorithm,
    public_key: publicKey === '' ? null : (JSON.parse(publicKey) as SignatureJwk),
    signature: signature.signature,
    signed_text: cid === '' ? '' : signingText(cid),
    cid,
    status: signature.status,
    tx_hash: signature.txHash,
    failure: failureBody(signature.failure),
    progress: progressBody(signature.progress),
  }
}

/** A signature as everybody sees it who has the CID of the content. */
export function listedSignature(signature: Signature): ListedSignature {
  return {
    algorithm: signature.algorithm,
    public_key: JSON.parse(signature.publicKey) as SignatureJwk,
    ...(signature.isByService && { key_id: signature.keyId }),
    signature: signature.signature,
    signed_text: signingText(signature.cid),
    signed_at: formatUs(signature.createdAtUs),
    status: signature.status,
    tx_hash: signature.txHash,
    network: signature.network,
  }
}
