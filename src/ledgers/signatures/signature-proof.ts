import type { Proof } from '../proofs/proof.ts'

export const signatureProofFormat = 'streamvault-signature-proof-1' as const

/** What shows who has signed content, and by when. Everything in it can be checked with it alone, but for whose the keys are. */
export interface SignatureProof {
  readonly format: typeof signatureProofFormat
  /** The signature, as it is anchored: the text whose SHA-256 is in the CID of the proof. */
  readonly metadata: string
  readonly proof: Proof
}
