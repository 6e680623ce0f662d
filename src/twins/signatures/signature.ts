import type { AttachmentId, SignatureId, UserId } from '../../core/ids.ts'
import type { Ledger } from '../../core/ledger.ts'
import type { SignatureAlgorithm, SignatureKey } from '../../ledgers/signatures/signature-key.ts'

/** Signatures of one attachment: somebody who looks at it looks through them all. */
export const signaturesMax = 10_000

/** A signature that somebody brings along. */
export interface BroughtSignature {
  readonly key: SignatureKey
  /** base64url. */
  readonly signature: string
}

/** Somebody's word for what is attached. */
export interface Signature {
  readonly id: SignatureId
  /** Whose attachment it is of. */
  readonly ownerId: UserId
  /** Who has asked for it, or brought it. */
  readonly signerId: UserId
  readonly createdAtUs: number
  readonly attachmentId: AttachmentId
  readonly isByService: boolean
  readonly algorithm: SignatureAlgorithm
  /** What its key is known by (RFC 7638); empty as long as the service has not signed. */
  readonly keyId: string
  /** The JWK as text; empty as long as the service has not signed. */
  readonly publicKey: string
  /** base64url; empty as long as the service has not signed. */
  readonly signature: string
  /** The CID of the content, once it is signed or checked; empty before, and where it does not fit. */
  readonly cid: string
  readonly ledger: Ledger
  /** Where it is anchored. */
  readonly network: string
  readonly status: string
  readonly txHash: string
  /** As they are stored (see `progress.ts`). */
  readonly progress: string
  readonly failure: string | null
}

/** A signature with the name that its signer has now; null for one who was deleted. */
export interface ShownSignature {
  readonly signature: Signature
  readonly signedBy: string | null
}

/** Who is told of a signature: the owner of the attachment, and whoever signs, if that is somebody else. */
export function toldUsers({ ownerId, signerId }: Signature): readonly UserId[] {
  return [...new Set([ownerId, signerId])]
}
