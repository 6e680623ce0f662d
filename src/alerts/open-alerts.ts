import { systemClock } from '../core/clock.ts'
import type { StateDatabase } from '../storage/state/database.ts'
import { AlertStore } from './alert-store.ts'
import { Backtests, type BacktestsNeeds } from './backtests.ts'
import { FleetRuleStore } from './fleet-rule-store.ts'

/** What people do with alerts and their rules, and how much of it is going on. */
export function openAlerts(state: StateDatabase, worker: BacktestsNeeds) {
  const rules = new FleetRuleStore(state, systemClock)
  const backtests = new Backtests({ readSeries: (query) => worker.readSeries(query) })
  let comparisons = 0
  return {
    alerts: new AlertStore(state),
    rules,
    backtests,
    figures: {
      get backtests() {
        return backtests.open
      },
      get comparisons() {
        return comparisons
      },
    },
    async count() {
      comparisons = await rules.pending()
    },
  }
}
