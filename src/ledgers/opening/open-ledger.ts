import type { Clock } from '../../core/clock.ts'
import { familyOf, type LedgerFamily, type LedgerSettings } from '../../core/ledger-settings.ts'
import type { KeyRole } from '../keys/ledger-key.ts'
import type { Heights, Ledger } from '../ledger.ts'
import type { Signer } from '../signer.ts'

export interface LedgerNeeds {
  readonly settings: LedgerSettings
  /** Whose account it is seen as: it signs. */
  readonly role: KeyRole
  /**
   * What signs for our accounts on the network.
   *
   * @throws LedgerUnreachable where there is no key, or none that the master key opens
   */
  readonly signerOf: (role: KeyRole) => Promise<Signer>
  readonly clock: Clock
  /** How long leaves are collected for one transaction, in microseconds. */
  readonly batchWaitUs: number
  /** How far nodes were, as it is written down. */
  readonly heights?: Heights | undefined
}

type Opener = (needs: LedgerNeeds) => Promise<Ledger>

/** Adapters, by whom they talk to. Each is loaded when it is needed for the first time: its library takes a second, and memory. */
const openers: Readonly<Record<LedgerFamily, Opener>> = {
  evm: async (needs) => await (await import('../evm/open-evm.ts')).openEvm(needs),
  xrpl: async (needs) => await (await import('../xrpl/open-xrpl.ts')).openXrpl(needs),
}

/**
 * Opens a real network.
 *
 * @throws LedgerUnreachable that says why it cannot be opened
 */
export async function openLedger(needs: LedgerNeeds): Promise<Ledger> {
  return await openers[familyOf(needs.settings.ledger)](needs)
}
