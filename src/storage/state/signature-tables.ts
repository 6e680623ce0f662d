import type { Defaulted } from './column.ts'
import type { AnchoredTable } from './file-tables.ts'

/** Signatures of what is attached, and the keys of the service for them. */
export interface SignatureTables {
  signatures: SignatureTable
  content_keys: ContentKeyTable
}

interface SignatureTable extends AnchoredTable {
  readonly id: string
  /** Whose attachment it is of. */
  readonly owner_id: string
  /** Who has asked for it, or brought it. */
  readonly signer_id: string
  readonly created_at: number
  readonly attachment_id: string
  /** 1 where the service signs. */
  readonly by_service: number
  readonly algorithm: string
  /** RFC 7638 thumbprint; empty as long as the service has not signed. */
  readonly key_id: string
  /** JWK, with the members that its thumbprint is of; empty as long as the service has not signed. */
  readonly public_key: string
  /** base64url. */
  readonly signature: string
  /** The CID of the content, once it is signed or checked; empty before, and where it does not fit. */
  readonly cid: Defaulted<string>
  /** 1 while it is to be looked at: its attachment does not wait for its file any more. */
  readonly ready: number
}

interface ContentKeyTable {
  readonly kid: string
  /** The public half, base64url. It stays for ever, because what it has signed does. */
  readonly x: string
  /** PKCS #8, PEM, encrypted with the master key; null once it signs no more. */
  readonly private_key_encrypted: Uint8Array | null
  readonly created_at: number
  /** Steady time from which on it signs. */
  readonly signing_since: number
  readonly retired_at: number | null
}
