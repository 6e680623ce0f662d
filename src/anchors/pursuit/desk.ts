import type { Heights, Inclusion, SignedTransaction } from '../../ledgers/ledger.ts'
import type { AnchorFailure, AnchorState, AnchorStatus } from '../intents/anchor.ts'
import type { AnchorFacts } from '../intents/anchored-kind.ts'

/** A transaction that was signed, or found on the ledger, and what it is for. */
export interface SignedAnchors {
  readonly transaction: SignedTransaction
  /** What is in the transaction as its intent: an anchor of its own, or a batch. */
  readonly intentId: string
  /** Anchors whose leaves it has, each with the place of its first one. */
  readonly anchors: readonly { readonly id: string; readonly firstLeaf: number }[]
  /** All CIDs that it commits to, where it was found: some may be of nothing that is known here. */
  readonly leaves?: readonly string[]
  /** It takes the anchors of what was signed for the same intent under its sequence, and is open still. */
  readonly isBump?: boolean
}

/**
 * Anchors that come further: all of a transaction, or some that have none. Those of a transaction may have named another one of
 * the same intent under its sequence; they name this one from now on.
 */
export interface MovedAnchors {
  readonly of: { readonly transactionHash: string } | { readonly anchorIds: readonly string[] }
  /** Only those that are in one of these states. */
  readonly from: readonly AnchorState[]
  readonly to: AnchorState
  readonly statuses: readonly AnchorStatus[]
  readonly facts: AnchorFacts
  readonly failure: AnchorFailure | undefined
}

/** How the transaction itself comes further. */
export interface MovedTransaction {
  readonly hash: string
  /**
   * `open`: to be pursued; `final`: on the ledger for good, so that the others of its intent under its sequence are dead; `dead`: it
   * can never get in, and what is not failed of its anchors names one of these others, or is to be signed anew.
   */
  readonly to: 'open' | 'final' | 'dead'
  readonly inclusion?: Inclusion
}

export interface DeskRequest {
  readonly network: string
  readonly account: string
  readonly signed: readonly SignedAnchors[]
  readonly transactions: readonly MovedTransaction[]
  readonly moved: readonly MovedAnchors[]
  /** How far nodes were when that was seen: it is kept with what follows from it. */
  readonly heights?: Heights | undefined
}

export interface DeskAnswer {
  /**
   * How many of `signed` were taken, from the first one on. The first that is not has an anchor that is gone, and
   * those after it would leave a gap: they are to be signed again, and must not be sent.
   */
  readonly taken: number
  /** Whether more is to be anchored because of what has moved: perhaps by another account. */
  readonly isMore: boolean
}

/** Where it is written what becomes of anchors: all of a request is one transaction. */
export interface AnchorDesk {
  /** @throws Error when another transaction has a sequence already that can get in, or has: nothing is stored then */
  exchange(request: DeskRequest): Promise<DeskAnswer>
}
