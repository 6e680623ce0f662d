import type { KeyRole } from '../keys/ledger-key.ts'
import type { NodeQuestion } from './ask-node.ts'

/** The node of a network, as far as it is asked without a library of that network. */
export interface LedgerNode {
  /** The network that it says it is of: `eip155:<id>` or `xrpl:<id>`. @throws LedgerUnreachable */
  network(): Promise<string>

  /**
   * Asks for what our accounts have.
   *
   * @throws LedgerUnreachable
   */
  figures(accounts: OwnAccounts): Promise<LedgerAccountFigures>
}

/** Addresses of our accounts on a network that have a key. */
export type OwnAccounts = Readonly<Partial<Record<KeyRole, string>>>

/** What a node says of now, and of our accounts. Amounts are in the smallest unit of the network. */
export interface LedgerAccountFigures {
  /** What an anchor costs now: one transaction with a root, as far as that can be known before. */
  readonly feeOfAnchor: bigint
  /** What each account has, without what the network keeps of it. */
  readonly balances: Readonly<Partial<Record<KeyRole, bigint>>>
  /** What the network keeps of an account for each thing more that it owns. */
  readonly reserveEach: bigint
  /** The time of the newest block, in microseconds. */
  readonly blockTimeUs: number
  /** Whether our contract is there; undefined where there is none to look for. */
  readonly hasContract: boolean | undefined
  /** Whether assets can be issued: a contract from before there were any does not know them. Undefined where there is none to look at. */
  readonly knowsAssets: boolean | undefined
}

/** Asks a node. @throws LedgerUnreachable */
export type AskOfNode = (question: NodeQuestion) => Promise<unknown>
