import type { Clock } from '../../core/clock.ts'
import { familyOf, type LedgerFamily, type LedgerSettings } from '../../core/ledger-settings.ts'
import type { KeyRole } from '../keys/ledger-key.ts'
import { type Ledger, LedgerUnreachable } from '../ledger.ts'
import type { Signer } from '../signer.ts'

export interface LedgerNeeds {
  readonly settings: LedgerSettings
  /**
   * What signs for our accounts on the network.
   *
   * @throws LedgerUnreachable where there is no key, or none that the master key opens
   */
  readonly signerOf: (role: KeyRole) => Promise<Signer>
  readonly clock: Clock
  /** How long leaves are collected for one transaction, in microseconds. */
  readonly batchWaitUs: number
}

type Opener = (needs: LedgerNeeds) => Promise<Ledger>

/** Adapters, by whom they talk to. Each is loaded when it is needed for the first time: its library takes a second, and memory. */
const openers: Readonly<Partial<Record<LedgerFamily, Opener>>> = {
  evm: async (needs) => (await import('../evm/open-evm.ts')).openEvm(needs),
}

/**
 * Opens a real network.
 *
 * @throws LedgerUnreachable that says why it cannot be opened
 */
export async function openLedger(needs: LedgerNeeds): Promise<Ledger> {
  const { ledger, network } = needs.settings
  const open = openers[familyOf(ledger)]
  if (!open) throw new LedgerUnreachable(`this version cannot talk to ${network} yet`)
  return await open(needs)
}
