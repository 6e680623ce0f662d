import type { Clock } from '../../core/clock.ts'
import type { LedgerSettings } from '../../core/ledger-settings.ts'
import { type Heights, LedgerUnreachable } from '../ledger.ts'
import type { Signer } from '../signer.ts'
import { EvmLedger } from './evm-ledger.ts'
import { evmNameOf } from './fees.ts'

export interface OpenEvmNeeds {
  readonly settings: LedgerSettings
  /** @throws LedgerUnreachable where there is no key */
  readonly signerOf: (role: 'issuer') => Promise<Signer>
  readonly clock: Clock
  /** How long leaves are collected for one transaction, in microseconds. */
  readonly batchWaitUs: number
  /** How far nodes were, as it is written down. */
  readonly heights?: Heights | undefined
}

/**
 * Opens a network of the EVM; nodes are asked later.
 *
 * @throws LedgerUnreachable where there is no contract or no key yet
 */
export async function openEvm(needs: OpenEvmNeeds): Promise<EvmLedger> {
  const { settings, signerOf, clock, batchWaitUs, heights } = needs
  const { contract, network } = settings
  const ledger = evmNameOf(settings.ledger)
  if (contract === undefined) {
    throw new LedgerUnreachable(
      `${network} has no contract of ours: make one with ledger deploy ${ledger}`,
    )
  }
  const signer = await signerOf('issuer')
  return new EvmLedger({ ...settings, ledger, contract, signer, clock, batchWaitUs, heights })
}
