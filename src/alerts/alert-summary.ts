import { severities } from '../../processors/alert-rules.ts'
import type { AlertCount } from './alert-store.ts'

/** States of alerts that go on. */
const openStates = ['pending', 'firing', 'acknowledged'] as const

/** How many alerts go on, in all and for each vault. */
export function summaryOf(counts: readonly AlertCount[]): object {
  const byVault = Map.groupBy(counts, ({ vaultId }) => vaultId)
  const vaults = [...byVault].map(([vaultId, ofVault]) => ({ vaultId, ...totals(ofVault) }))
  return { ...totals(counts), vaults }
}

function totals(counts: readonly AlertCount[]): object {
  const sum = (state: string, severity: string) =>
    counts
      .filter((one) => one.state === state && one.severity === severity)
      .reduce((total, { alerts }) => total + alerts, 0)
  return Object.fromEntries(
    openStates.map((state) => [
      state,
      Object.fromEntries(severities.map((severity) => [severity, sum(state, severity)])),
    ]),
  )
}
