import type { MerklePath } from '../merkle/merkle.ts'
import type { Proof } from '../proofs/proof.ts'

export const sealProofFormat = 'streamvault-seal-proof-1' as const

/** What shows that a seal was there by a time. Everything in it can be checked with it alone, but for whose the keys are. */
export interface SealProof {
  readonly format: typeof sealProofFormat
  /** The seal: a leaf of the tree of its batch. */
  readonly text: string
  readonly batch: {
    readonly text: string
    /** From the text of the seal to the root that the text of the batch says. */
    readonly path: MerklePath
  }
  /** The proof of the CID of the text of the batch. */
  readonly proof: Proof
}
