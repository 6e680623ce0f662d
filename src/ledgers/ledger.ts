import type { MerklePath } from './merkle/merkle.ts'

/** A CID that a transaction commits to, and the intent that it belongs to. */
export interface Leaf {
  readonly intentId: string
  /** CIDv1 in base32. */
  readonly cid: string
}

/** An asset that is issued: what each of its transactions says. */
export interface IssuedAsset {
  /** The uuid of its asset stream: a network has one token of it at most, where that can be had. */
  readonly streamId: string
  /** The code of the asset stream. */
  readonly code: string
  /** All of it, in its smallest units: decimal text, 1 to 2^63-1. */
  readonly amount: string
  /** Decimal places of a whole unit: 0 to 10. */
  readonly precision: number
  /** What the ledger calls it, once it is issued: for whatever comes after that. */
  readonly tokenId?: string
}

/** What is to be put on a ledger: one transaction. */
export interface Deed {
  /** In every transaction, so that what is on the ledger is found there whatever we have forgotten. */
  readonly intentId: string
  readonly kind: DeedKind
  /** The root of the tree over `leaves` (RFC 6962), hex: what the transaction commits to. */
  readonly root: string
  readonly leaves: readonly Leaf[]
  /** Where the metadata of a token are: `ipfs://<cid>`. */
  readonly uri?: string
  /** The uuid of what a token is of. */
  readonly resourceId?: string
  /** Where an asset is issued. */
  readonly asset?: IssuedAsset
}

export type DeedKind =
  /** A token of its own. */
  | 'nft'
  /** A record of an asset. */
  | 'record'
  /** Nothing but a root. */
  | 'root'
  /** An asset that comes to be, and is at once where it is distributed from. */
  | 'token'
  /** An asset that comes to be. */
  | 'issuance'
  /** Its signer will hold the asset. */
  | 'authorization'
  /** All of the asset, to where it is distributed from. */
  | 'payment'

/** Under which terms a transaction is signed: what it pays at most, and until when it may get in. JSON that its ledger reads. */
export type Terms = string

/** What a ledger says to a deed before anything is signed for it. */
export type Preparation =
  /** Terms that get it in now. */
  | { readonly terms: Terms }
  /** Why it would never take it, whoever asks: no sequence is used for it. */
  | { readonly refused: string }

/** A transaction that can be sent, now and again: it is stored before it is sent for the first time. */
export interface SignedTransaction {
  /** What the ledger knows it by. */
  readonly hash: string
  readonly sequence: number
  /** The bytes that are sent, as text. */
  readonly blob: string
  /** What `hash` is the hash of and what is shown in proofs: it says the root, and names nobody. */
  readonly text: string
  /** Empty where the network has none. */
  readonly terms: Terms
}

/** One that has waited, and is in no block. */
export interface WaitingTransaction {
  readonly blob: string
  readonly terms: Terms
  /** When it was signed, in microseconds of the wall clock. */
  readonly signedAtUs: number
}

/** What a ledger says to a transaction that it is sent. */
export type Submission =
  /** It has it, whether or not it had it before. */
  | { readonly is: 'accepted' }
  /** One with a lower sequence has to come first. */
  | { readonly is: 'early' }
  /**
   * It is proven that this one can never get in: another transaction has its sequence for good, or its time is over.
   * A node that lags behind what was seen before proves nothing: it is unreachable.
   */
  | { readonly is: 'superseded' }
  /** It will never take it, whoever asks. */
  | { readonly is: 'refused'; readonly reason: string }

/** A signature that a ledger gives for a block. */
export interface LedgerSignature {
  /** RFC 7638 thumbprint of the key. */
  readonly keyId: string
  readonly algorithm: 'Ed25519'
  /** JWK (RFC 8037). */
  readonly publicKey: { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string }
  /** Over the bytes of the header: base64. */
  readonly signature: string
}

/** Where a transaction is, and what shows that. */
export interface Inclusion {
  readonly height: number
  /** Microseconds: the time that the block says. */
  readonly timeUs: number
  /** The text that is signed; its SHA-256 names the block. */
  readonly header: string
  /** Hex, lower case, without a prefix. */
  readonly blockHash: string
  /** From the hash of the transaction to the root in the header. */
  readonly path: MerklePath
  readonly signatures: readonly LedgerSignature[]
  /** What the ledger calls the token or the asset, where it is one that comes to be. */
  readonly tokenId?: string
}

/** What is to be seen of a transaction on a ledger. */
export type Sighting =
  /** The ledger was asked and did not answer. */
  | { readonly is: 'unreachable'; readonly reason: string }
  /** It knows no such transaction. */
  | { readonly is: 'unknown' }
  /** It has it, in no block yet. */
  | { readonly is: 'pending' }
  /** It is in a block, which may be taken back until it is final. */
  | { readonly is: 'included'; readonly isFinal: boolean; readonly inclusion: Inclusion }
  | Exclude<Submission, { readonly is: 'accepted' }>

/**
 * Thrown by whatever asks a ledger that does not answer, or that takes nothing for now (no money, fees above what is
 * allowed, a node of another network or one that lags behind): it can be asked again. The message says which, and no address.
 */
export class LedgerUnreachable extends Error {
  override readonly name = 'LedgerUnreachable'
}

/** How far the nodes of a network are. */
export interface Heights {
  /** The newest block that any has told of. */
  readonly head: number
  /** The newest that any has told of to be final. */
  readonly final: number
}

/**
 * A network that anchors are put on, as one account of ours sees it. There is one object for each account, in one
 * thread, and nobody else signs for that account.
 *
 * Whatever asks the network throws `LedgerUnreachable` when it does not answer, and has no effect then, or one that is
 * found by `sight`.
 */
export interface Ledger {
  /** Its name in every proof. */
  readonly network: string
  /** The account that signs. That of the issuer is also the issuer of assets, and the owner of tokens. */
  readonly account: string
  /** The account that assets are distributed from. */
  readonly distributionWallet: string
  /** How long leaves are collected for one transaction, in microseconds. */
  readonly batchWaitUs: number
  /** Transactions that may be under way at once. */
  readonly inFlightMax: number
  /**
   * How far nodes have said that they are, also before it was opened: one that is behind that is not believed that something is not
   * there. Undefined where nothing can lag behind.
   */
  readonly heights?: Heights | undefined

  /** A code as the ledger writes it. */
  mappingOf(assetCode: string): string

  /** Asks under which terms it gets in now. */
  prepare(deed: Deed): Promise<Preparation>

  /**
   * Signs, and asks nobody but the keys. The same deed under the same sequence and the same terms gives the same
   * transaction: hash and blob.
   */
  sign(deed: Deed, sequence: number, terms: Terms): Promise<SignedTransaction>

  /**
   * Better terms for the same deed under the same sequence, where the one that waits for a block is not to wait any longer.
   * Undefined while it is, and where nothing better is allowed or needed: then the same blob goes on being sent. A network whose fees
   * do not rise has none.
   */
  betterTerms(waiting: WaitingTransaction): Promise<Terms | undefined>

  /** The lowest sequence that no transaction on the ledger has. */
  nextSequence(): Promise<number>

  /** Sends it. To send the same one again changes nothing. */
  submit(blob: string): Promise<Submission>

  /** Looks for a transaction by its hash. */
  sight(hash: string): Promise<Sighting>

  /**
   * Transactions that are on the ledger for some intents, by the intent; for what is one leaf among others, that of all, as far as the
   * ledger keeps leaves.
   */
  find(intentIds: readonly string[]): Promise<ReadonlyMap<string, FoundTransaction>>

  /** Resolves when there may be more to see, or the signal is aborted. */
  changed(signal: AbortSignal): Promise<void>

  close(): Promise<void>
}

/** A transaction that was found on a ledger. Leaves of its deed are in order; there are none where the ledger keeps only their root. */
export interface FoundTransaction extends SignedTransaction {
  readonly deed: Deed
}
