import type { KeyRole } from '../keys/ledger-key.ts'
import type { DeedKind } from '../ledger.ts'

/** One of the transactions that an asset takes; each is begun when the one before it is on the ledger for good. */
export interface AssetStep {
  /** What of the asset is anchored. */
  readonly operation: 'creation' | 'authorization' | 'payment'
  readonly kind: DeedKind
  /** Whose account signs. */
  readonly role: KeyRole
}

/**
 * On the XRP Ledger nobody gets an asset that he has not asked for: the distributor authorizes it before it is paid
 * (https://xrpl.org/docs/concepts/tokens/fungible-tokens/multi-purpose-tokens).
 */
const onXrpl: readonly [AssetStep, ...AssetStep[]] = [
  { operation: 'creation', kind: 'issuance', role: 'issuer' },
  { operation: 'authorization', kind: 'authorization', role: 'distributor' },
  { operation: 'payment', kind: 'payment', role: 'issuer' },
]

const elsewhere: readonly [AssetStep, ...AssetStep[]] = [
  { operation: 'creation', kind: 'token', role: 'issuer' },
]

/** What is to be done for an asset on a network, in order. */
export function assetStepsOf(network: string): readonly [AssetStep, ...AssetStep[]] {
  return network.startsWith('xrpl:') ? onXrpl : elsewhere
}
