import type { LedgerSettings } from '../../core/ledger-settings.ts'
import type { Heights } from '../ledger.ts'
import type { Signer } from '../signer.ts'
import { XrplLedger } from './xrpl-ledger.ts'

export interface OpenXrplNeeds {
  readonly settings: LedgerSettings
  /** @throws LedgerUnreachable where there is no key */
  readonly signerOf: (role: 'issuer' | 'distributor') => Promise<Signer>
  /** How long leaves are collected for one transaction, in microseconds. */
  readonly batchWaitUs: number
  /** How far nodes were, as it is written down. */
  readonly heights?: Heights | undefined
}

/**
 * Opens a network of the XRP Ledger; nodes are asked later.
 *
 * @throws LedgerUnreachable where there is no key of either account yet
 */
export async function openXrpl({ settings, ...needs }: OpenXrplNeeds): Promise<XrplLedger> {
  const { endpoints, network, feeMax } = settings
  const issuer = await needs.signerOf('issuer')
  const distributor = await needs.signerOf('distributor')
  const { batchWaitUs, heights } = needs
  const accounts = { issuer, distributor }
  return new XrplLedger({ endpoints, network, feeMax, ...accounts, batchWaitUs, heights })
}
