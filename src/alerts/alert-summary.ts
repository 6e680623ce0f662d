import type { Static } from 'typebox'
import { severities } from '../../processors/alert-rules.ts'
import type { summarySchema } from './alert-api.ts'
import type { AlertCount } from './alert-store.ts'

/** How many alerts go on (those that are not cleared), in all and for each vault. */
export function summaryOf(counts: readonly AlertCount[]): Static<typeof summarySchema> {
  const byVault = Map.groupBy(counts, ({ vaultId }) => vaultId)
  const vaults = [...byVault].map(([vaultId, ofVault]) => ({ vaultId, ...totals(ofVault) }))
  return { ...totals(counts), vaults }
}

function totals(counts: readonly AlertCount[]) {
  const sum = (state: string, severity: string) =>
    counts
      .filter((one) => one.state === state && one.severity === severity)
      .reduce((total, { alerts }) => total + alerts, 0)
  const bySeverity = (state: string) =>
    Object.fromEntries(severities.map((severity) => [severity, sum(state, severity)]))
  return {
    pending: bySeverity('pending'),
    firing: bySeverity('firing'),
    acknowledged: bySeverity('acknowledged'),
  }
}
