import type { LedgerLook } from '../../src/anchors/networks/ledger-look.ts'
import { LowFunds } from '../../src/anchors/networks/low-funds.ts'
import { systemClock } from '../../src/core/clock.ts'
import { StateBeside } from './state-beside.ts'

/** What was seen of XRPL, with money for so many anchors, and for so many assets where there is a distributor. */
export function lookWith(anchors: number | undefined, assets?: number): LedgerLook {
  const issuer = anchors === undefined ? undefined : BigInt(anchors) * 10n
  const distributor = assets === undefined ? undefined : BigInt(assets) * 17n
  return {
    settings: {
      ledger: 'XRPL',
      endpoints: [],
      network: 'xrpl:99',
      contract: undefined,
      finality: 'finalized',
      feeMax: undefined,
    },
    accounts: {
      issuer: 'rAccount',
      ...(distributor !== undefined && { distributor: 'rDistributor' }),
    },
    answers: true,
    isOther: false,
    problem: undefined,
    figures: {
      balances: {
        ...(issuer !== undefined && { issuer }),
        ...(distributor !== undefined && { distributor }),
      },
      feeOfAnchor: 10n,
      reserveEach: 7n,
      blockTimeUs: 0,
      hasContract: undefined,
      knowsAssets: true,
    },
  }
}

/** An account that is nearly empty, told of where there is no real ledger. */
export async function fundsGetLow(service: { readonly dataDir: string }): Promise<void> {
  await using beside = await StateBeside.open(service)
  const lowFunds = new LowFunds({ state: beside.state, writer: beside, clock: systemClock })
  await lowFunds.judge([lookWith(7)])
}
