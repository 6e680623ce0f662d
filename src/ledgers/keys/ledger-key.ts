import type { LedgerFamily } from '../../core/ledger-settings.ts'
import type { Signer } from '../signer.ts'

/**
 * What an account of ours is for: `issuer` signs what is anchored, and owns tokens; `distributor`, of XRPL only, is
 * where assets are distributed from.
 */
export const keyRoles = ['issuer', 'distributor'] as const

export type KeyRole = (typeof keyRoles)[number]

/** The roles that a network has keys for. */
export function rolesOf(family: LedgerFamily): readonly KeyRole[] {
  return family === 'xrpl' ? keyRoles : ['issuer']
}

/** What everybody may know of a key. */
export interface PublicKey {
  readonly algorithm: Signer['algorithm']
  /** Hexadecimal: compressed secp256k1 (33 bytes), or Ed25519 (32). */
  readonly publicKey: string
  /** The account on the network: a classic address of XRPL, or one of EIP-55. */
  readonly account: string
}

/** With its secret half: it goes to a cipher, or to a signer, and nowhere else. */
export interface KeyPair extends PublicKey {
  /** Hexadecimal, 32 bytes. */
  readonly privateKey: string
}
