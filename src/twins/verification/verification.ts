import type { VaultId, VerificationId } from '../../core/ids.ts'

/** What a verification comes to. */
export const verificationResults = ['proven', 'not_found', 'contradicted', 'unreachable'] as const

export type VerificationResult = (typeof verificationResults)[number]

/** A vault that is to be compared with what is on the ledger. */
export interface Verification {
  readonly id: VerificationId
  readonly vaultId: VaultId
  /** Microseconds. */
  readonly requestedAtUs: number
}

/** Something that keeps a vault from being proven, and what follows from it. */
export interface Finding {
  readonly is: Exclude<VerificationResult, 'proven'>
  /** A sentence. */
  readonly problem: string
}

/** The worst comes first: bytes that are others say more than a ledger that was not reached. */
const bySeverity = ['contradicted', 'not_found', 'unreachable'] as const

/** What findings come to together. */
export function resultOf(findings: readonly Finding[]): VerificationResult {
  return bySeverity.find((is) => findings.some((finding) => finding.is === is)) ?? 'proven'
}
