import type { MessagePort } from 'node:worker_threads'
import { AlertTimers, type ExpiredTimers } from '../../alerts/alert-timers.ts'
import { AlertWatch } from '../../alerts/alert-watch.ts'
import type { Clocks } from '../../core/clock.ts'
import type { Notify, StateDatabase } from '../../storage/state/database.ts'

export interface WorkerAlertsNeeds {
  readonly state: StateDatabase
  readonly clock: Clocks
  readonly notify: Notify
  /** Is told of timers that have run out. */
  readonly bell: MessagePort
}

export type WorkerAlerts = ReturnType<typeof openWorkerAlerts>

/** Composition of what runs the rules of streams, where the state is written. */
export function openWorkerAlerts({ bell, ...needs }: WorkerAlertsNeeds) {
  const watches = new AlertWatch(needs)
  return { watches, timers: new AlertTimers({ ...needs, watches, ring: ringOver(bell) }) }
}

function ringOver(port: MessagePort): (expired: ExpiredTimers) => void {
  return (expired) => port.postMessage(expired)
}
