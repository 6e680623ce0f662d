import type { Generated } from 'kysely'
import type { Defaulted } from './column.ts'

/** What is put on ledgers, and how far that is. */
export interface AnchorTables {
  anchors: AnchorTable
  anchor_counts: AnchorCountTable
  anchor_leaves: AnchorLeafTable
  anchor_transactions: AnchorTransactionTable
  ledger_heights: LedgerHeightTable
  ledger_keys: LedgerKeyTable
  ledger_warnings: LedgerWarningTable
  metadata: MetadataTable
  unanchored: UnanchoredTable
  verifications: VerificationTable
}

/** An intent, one for each (resource, operation). It outlives its resource. */
interface AnchorTable {
  /** The order in which they are anchored. */
  readonly number: Generated<number>
  readonly id: string
  readonly resource_type: string
  readonly resource_id: string
  readonly operation: string
  /** The ledger that it was made for. */
  readonly ledger: string
  /** Where it goes. */
  readonly network: string
  readonly kind: string
  readonly uri: string | null
  readonly asset_code: string | null
  /** JSON of the asset that is issued. */
  readonly asset: string | null
  /** Whose account of ours signs. */
  readonly role: Defaulted<string>
  /** 1: without mail and inbox entries. */
  readonly quiet: number
  readonly state: string
  readonly created_at: number
  /** Steady time since when it is tried. */
  readonly begun_at: number
  readonly transaction_hash: string | null
  /** The place of its first leaf among those of the transaction. */
  readonly first_leaf: Defaulted<number>
  /** JSON {error, message}. */
  readonly failure: string | null
}

/** How many anchors there are; it is kept by triggers. */
interface AnchorCountTable {
  readonly network: string
  readonly state: string
  readonly anchors: number
}

/** What an anchor commits to. */
interface AnchorLeafTable {
  readonly anchor_id: string
  readonly position: number
  /** Empty for the thing itself, else what part of it. */
  readonly name: string
  readonly cid: string
  /** When its anchor was made, so that the earliest of a CID is found without all others. */
  readonly created_at: Defaulted<number>
}

/** What was signed, written down before it is sent for the first time. */
interface AnchorTransactionTable {
  readonly hash: string
  readonly network: string
  readonly account: string
  readonly sequence: number
  /** More than 1 where there was one under this sequence before: refused, or under worse terms. */
  readonly attempt: number
  readonly intent_id: string
  readonly blob: string
  /** What proofs show of it. */
  readonly text: string
  /** What it is signed under, as its ledger writes that. */
  readonly terms: Defaulted<string>
  /** open, final, dead */
  readonly state: string
  /** Microseconds. */
  readonly signed_at: number
  /** JSON (`Inclusion` of src/ledgers/ledger.ts), once it is in a block for good. */
  readonly inclusion: string | null
  /** JSON of all its CIDs, in order, where it was found on a ledger: some may be of what is not here any more. */
  readonly leaves: string | null
}

/** What metadata CIDs are of: the very bytes. */
interface MetadataTable {
  readonly resource_id: string
  readonly cid: string
  readonly bytes: Uint8Array
}

/** What was there before there were anchors. */
interface UnanchoredTable {
  readonly resource_type: string
  readonly resource_id: string
}

/** Vaults that are to be compared with what is on the ledger. */
interface VerificationTable {
  readonly id: string
  readonly vault_id: string
  readonly requested_at: number
}

/** How far nodes of a network have said that they are, by the time of the last row that was written for it. */
interface LedgerHeightTable {
  readonly network: string
  readonly head: number
  readonly final: number
}

/** An account of ours on a real network. */
interface LedgerKeyTable {
  readonly network: string
  /** `issuer` or `distributor`. */
  readonly role: string
  readonly account: string
  /** `secp256k1` or `Ed25519`. */
  readonly algorithm: string
  /** Hexadecimal. */
  readonly public_key: string
  /** Hexadecimal, encrypted with the master key. */
  readonly private_key_encrypted: Uint8Array
  readonly created_at: number
}

/** A network with hardly any money left, of which somebody was told. */
interface LedgerWarningTable {
  readonly network: string
  readonly told_at: number
}
