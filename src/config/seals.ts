import type { Ledger } from '../core/ledger.ts'
import { shortDurationOf } from './duration-setting.ts'
import type { LedgersConfig } from './ledgers.ts'

/** Settings of seals. */
export interface SealsConfig {
  /** How long after the end of a stretch it is sealed. */
  readonly sealGraceUs: number
  /** Where seals are anchored. */
  readonly sealLedger: { readonly ledger: Ledger; readonly network: string }
}

interface Reading {
  readonly text: (name: string, fallback: string) => string
  readonly problems: string[]
}

/** The service's own ledger stands in for this one where no other is named. */
const sandbox = { ledger: 'XRPL', network: 'sandbox' } as const

export function readSealsConfig(
  reading: Reading,
  { ledgers }: Pick<LedgersConfig, 'ledgers'>,
): SealsConfig {
  return {
    sealGraceUs: shortDurationOf(reading, 'STREAMVAULT_SEAL_GRACE', '5m'),
    sealLedger: ledgerOf(reading, ledgers),
  }
}

function ledgerOf(
  { text, problems }: Reading,
  ledgers: LedgersConfig['ledgers'],
): SealsConfig['sealLedger'] {
  const given = text('STREAMVAULT_SEAL_NETWORK', sandbox.network)
  if (given === sandbox.network) return sandbox
  const found = ledgers.find(({ network }) => network === given)
  if (found) return { ledger: found.ledger, network: found.network }
  const known = [sandbox.network, ...ledgers.map(({ network }) => network)].join(', ')
  problems.push(
    `STREAMVAULT_SEAL_NETWORK must be one of the networks that are configured (${known}), not '${given}'`,
  )
  return sandbox
}
