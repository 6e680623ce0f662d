import { encodeMetadata } from '../../src/anchors/metadata/encode-metadata.ts'
import type { SignatureProof } from '../../src/ledgers/signatures/signature-proof.ts'
import { signingText } from '../../src/ledgers/signatures/signing-text.ts'
import { sandboxProof } from './sandbox-proof.ts'
import type { Signer } from './signers.ts'

export interface MadeSignatureProof {
  readonly proof: SignatureProof
  /** Id of the key that blocks are signed with. */
  readonly keyId: string
}

/** What is said of the signature of a CID; that of another text where one is given. */
export function saidOf(signer: Signer, cid: string, signedText = signingText(cid)) {
  const { kty = '', crv = '', x = '', y } = signer.jwk
  return {
    cid,
    algorithm: signer.algorithm,
    public_key: JSON.stringify({ crv, kty, x, ...(y !== undefined && { y }) }),
    signature: signer.signed(signedText),
    signed_text: signingText(cid),
    created_at: '2026-11-27T10:00:00.000000Z',
  }
}

/** Puts what is said of a signature on the sandbox of a folder, among others, as it is encoded or as it is written. */
export async function signatureProofOf(
  folder: string,
  said: ReturnType<typeof saidOf> | string,
): Promise<MadeSignatureProof> {
  const metadata =
    typeof said === 'string'
      ? said
      : Buffer.from((await encodeMetadata('signature', said)).bytes).toString()
  const files = [{ name: '', bytes: Buffer.from(metadata) }]
  const { proof, keyId } = await sandboxProof(folder, files, { others: 2 })
  return { proof: { format: 'streamvault-signature-proof-1', metadata, proof }, keyId }
}
