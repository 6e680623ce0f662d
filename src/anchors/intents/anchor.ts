import type { Ledger as LedgerName } from '../../core/ledger.ts'
import type { KeyRole } from '../../ledgers/keys/ledger-key.ts'
import type { Deed, IssuedAsset } from '../../ledgers/ledger.ts'

/** What has something to anchor. Batches of seals are shown by their anchors alone. */
export type AnchoredType = 'vault' | 'asset_stream' | 'attachment' | 'signature' | 'asset' | 'seals'

/**
 * How far an anchor is, for ourselves. Unlike the status that users see it can go back: a ledger can take back a block
 * that is not final.
 */
export type AnchorState =
  /** Nothing is signed. */
  | 'waiting'
  /** Signed, and perhaps sent. */
  | 'signed'
  /** The ledger has it. */
  | 'submitted'
  /** In a block that is not final. */
  | 'included'
  | 'completed'
  | 'failed'
  /** Not done in time; somebody may ask for it again. */
  | 'error'

/** States in which nothing is to be done, unless somebody asks. */
export const restingStates: readonly AnchorState[] = ['completed', 'failed', 'error']

/** What users see of it; the order is that of the way. */
export type AnchorStatus = 'METADATA_STORED' | 'LEDGER_SUBMITTED' | 'COMPLETED' | 'FAILED' | 'ERROR'

/** One of the CIDs of an anchor, with what it is of. */
export interface AnchoredPart {
  /** The name of the file in the folder of a vault; empty for the thing itself. */
  readonly name: string
  readonly cid: string
}

/** An intent: something of a resource that is to be put on a ledger, once. */
export interface NewAnchor {
  readonly resourceType: AnchoredType
  readonly resourceId: string
  /** What of it: there is one anchor of each. `creation`, `image:<turn>`, or a step of an asset. */
  readonly operation: string
  /** The ledger that it was made for, as the specification names them. */
  readonly ledger: LedgerName
  /** Where it goes. */
  readonly network: string
  /** `root`: collected with others for one transaction. */
  readonly kind: Deed['kind']
  /** The first one is what it is known by. */
  readonly parts: readonly AnchoredPart[]
  /** Where the metadata of a token are. */
  readonly uri?: string
  /** The code that a record is of. */
  readonly assetCode?: string
  /** The asset that is issued. */
  readonly asset?: IssuedAsset
  /** Whose account of ours signs: that of the issuer unless it says otherwise. */
  readonly role?: KeyRole
  /** From before there were anchors: without mail and inbox entries. */
  readonly isQuiet?: boolean
}

/** Why something goes no further: a stable name, and a sentence. */
export interface AnchorFailure {
  readonly error: string
  readonly message: string
}
