import type { Ledger } from './ledger.ts'

/** How a ledger is reached where it is a real network. JSON-like: it goes to other threads. */
export interface LedgerSettings {
  readonly ledger: Ledger
  /** Addresses of nodes, tried in turn. They may hold a token: they are never logged, and in no answer. */
  readonly endpoints: readonly string[]
  /** `xrpl:<id>` or `eip155:<id>`: what a node has to say that it is of, and the name in proofs. */
  readonly network: string
  /** The contract of ours on it, `0x` and 40 hexadecimal digits; never there for XRPL. */
  readonly contract: string | undefined
  /** From when on a block counts: what the network calls so, or how many blocks are on top of it. */
  readonly finality: 'finalized' | 'safe' | number
  /** Decimal text: wei for a unit of gas, or drops for a transaction; undefined where nobody has said a limit. */
  readonly feeMax: string | undefined
}

/** The two kinds of networks, by how one talks to their nodes. */
export type LedgerFamily = 'evm' | 'xrpl'

export function familyOf(ledger: Ledger): LedgerFamily {
  return ledger === 'XRPL' ? 'xrpl' : 'evm'
}
