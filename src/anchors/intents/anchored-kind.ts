import type { StateDatabase } from '../../storage/state/database.ts'
import type { AnchoredType, AnchorFailure, AnchorStatus } from './anchor.ts'

/** What a ledger has made of a resource. Each is empty as long as it is not known. */
export interface AnchorFacts {
  readonly txHash: string
  /** The account that has signed: issuer of assets and tokens, owner of tokens. */
  readonly account: string
  readonly distributionWallet: string
  /** The code as the ledger writes it. */
  readonly mapping: string
  readonly tokenId: string
}

/** How a resource comes further, or does not. */
export interface ResourceMove {
  readonly resourceId: string
  readonly operation: string
  /** Statuses that it comes to, in order; those that it has had are not entered again. */
  readonly statuses: readonly AnchorStatus[]
  /** Microseconds. */
  readonly atUs: number
  readonly facts: AnchorFacts
  readonly failure: AnchorFailure | undefined
  readonly isQuiet: boolean
}

/** What anchors mean for one type of resources. */
export interface AnchoredKind {
  readonly type: AnchoredType
  /**
   * Writes how resources come further, with the events of that, as a part of the transaction in which it is
   * remembered of their anchors. Those that are gone are left out. Resolves with whether more is to be anchored of them now.
   */
  move(transaction: StateDatabase, moves: readonly ResourceMove[]): Promise<boolean>
}
