import type { Verdict } from '../ledgers/proofs/check-proof.ts'
import { inWords } from '../ledgers/proofs/in-words.ts'
import {
  checkSignatureProof,
  type SignatureQuestion,
  type SignedContent,
} from '../ledgers/signatures/check-signature-proof.ts'

/** What was found out of a signature, for programs and for people. */
export interface ShownSignature {
  readonly verdict: Verdict
  readonly json: Readonly<Record<string, unknown>> | undefined
  readonly says: string
}

/**
 * What the proof of a signature shows.
 *
 * @param serviceKeys ids of the keys that the service signs content with; undefined where that was not given
 */
export async function shownSignature(
  proof: string,
  question: SignatureQuestion,
  serviceKeys: ReadonlySet<string> | undefined,
): Promise<ShownSignature> {
  const { verdict, signed } = await checkSignatureProof(proof, question)
  const { result } = inWords(verdict)
  if (!signed || 'reason' in verdict)
    return { verdict, json: undefined, says: `signature ${result}` }
  const signer = serviceKeys && (serviceKeys.has(signed.keyId) ? 'service' : 'other')
  const { cid, algorithm, keyId } = signed
  return {
    verdict,
    json: { cid, algorithm, key_id: keyId, ...(signer && { signer }) },
    says: `signed: ${cid} with ${whoIs(signed, signer)}. The signature is ${result}`,
  }
}

function whoIs(
  { algorithm, keyId }: SignedContent,
  signer: 'service' | 'other' | undefined,
): string {
  const key = `the key ${keyId} (${algorithm})`
  if (signer === undefined) return key
  return signer === 'service'
    ? `${key} of the service`
    : `${key}, which is not a key of the service`
}
