import type { NetworkFigures } from '../../anchors/figures/network-figures.ts'
import { accountsOf, type LedgerLook } from '../../anchors/networks/ledger-look.ts'
import { type MetricName, metricHelp } from './metric-help.ts'
import type { ByNetwork } from './metrics.ts'

/** What tells of real ledgers. */
export interface MeasuredLedgers {
  readonly looks: readonly LedgerLook[]
  /** By network, in the smallest unit. */
  readonly spent: ReadonlyMap<string, bigint>
  /** By network; nothing of those that were not asked for yet. */
  readonly underWay: ReadonlyMap<string, NetworkFigures>
  /** Asks anew. */
  count(): Promise<void>
}

/** The figures of real ledgers: none where none is set. What nobody knows is left out. */
export function ledgerMetrics(measured: MeasuredLedgers): readonly ByNetwork[] {
  if (measured.looks.length === 0) return []
  type Value = (look: LedgerLook) => number | undefined
  const { spent, underWay } = measured
  const shown: readonly [ByNetwork['type'], MetricName, Value][] = [
    ['gauge', 'ledger_ready', ({ problem }) => Number(problem === undefined)],
    ['gauge', 'ledger_in_flight', (look) => underWay.get(networkOf(look))?.inFlight],
    ['gauge', 'ledger_oldest_seconds', (look) => underWay.get(networkOf(look))?.oldestS],
    ['gauge', 'ledger_anchors_left', anchorsLeft],
    ['counter', 'ledger_spent_total', (look) => Number(spent.get(networkOf(look)) ?? 0n)],
  ]
  return shown.map(([type, name, value]) => ({
    type,
    name,
    help: metricHelp[name],
    values() {
      const known = measured.looks.flatMap((look) => {
        const figure = value(look)
        return figure === undefined ? [] : [[networkOf(look), figure] as const]
      })
      return Object.fromEntries(known)
    },
  }))
}

/** What the issuer can pay for, who signs nearly all. */
function anchorsLeft(look: LedgerLook): number | undefined {
  return accountsOf(look).find(({ role }) => role === 'issuer')?.anchorsLeft
}

function networkOf({ settings: { network } }: LedgerLook): string {
  return network
}
