import type { LedgerSettings } from '../../core/ledger-settings.ts'
import type { KeyRole } from '../keys/ledger-key.ts'
import type { Heights } from '../ledger.ts'
import type { Signer } from '../signer.ts'
import { XrplLedger } from './xrpl-ledger.ts'

export interface OpenXrplNeeds {
  readonly settings: LedgerSettings
  /** Whose account it is seen as: it signs. */
  readonly role: KeyRole
  /** @throws LedgerUnreachable where there is no key */
  readonly signerOf: (role: KeyRole) => Promise<Signer>
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
  const { role, batchWaitUs, heights } = needs
  const accounts = { issuer, distributor, role }
  return new XrplLedger({ endpoints, network, feeMax, ...accounts, batchWaitUs, heights })
}
