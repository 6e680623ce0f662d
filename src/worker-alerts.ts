import { AlertWatch } from './alerts/alert-watch.ts'
import type { Clock } from './core/clock.ts'
import type { StateDatabase, Tell } from './state/database.ts'

export interface WorkerAlertsNeeds {
  readonly state: StateDatabase
  readonly clock: Clock
  readonly tell: Tell
}

/** Composition of what runs the rules of streams, where the state is written. */
export function openWorkerAlerts(needs: WorkerAlertsNeeds): { readonly watches: AlertWatch } {
  return { watches: new AlertWatch(needs) }
}
