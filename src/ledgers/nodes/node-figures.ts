import type { NodeQuestion } from './ask-node.ts'

/** The node of a network, as far as it is asked without a library of that network. */
export interface LedgerNode {
  /** The network that it says it is of: `eip155:<id>` or `xrpl:<id>`. @throws LedgerUnreachable */
  network(): Promise<string>

  /** @throws LedgerUnreachable */
  figures(account: string | undefined): Promise<LedgerAccountFigures>
}

/** What a node says of now, and of an account. Amounts are in the smallest unit of the network. */
export interface LedgerAccountFigures {
  /** What an anchor costs now: one transaction with a root, as far as that can be known before. */
  readonly feeOfAnchor: bigint
  /** What the account has, without what the network keeps of it; undefined where nobody has an account. */
  readonly balance: bigint | undefined
  /** The time of the newest block, in microseconds. */
  readonly blockTimeUs: number
  /** Whether our contract is there; undefined where there is none to look for. */
  readonly hasContract: boolean | undefined
  /** Whether assets can be issued: a contract from before there were any does not know them. Undefined where there is none to look at. */
  readonly knowsAssets: boolean | undefined
}

/** Asks a node. @throws LedgerUnreachable */
export type AskOfNode = (question: NodeQuestion) => Promise<unknown>
