import type { MqttBroker } from '../../../connectors/mqtt-broker/mqtt-broker.ts'
import type { AuditLog } from '../../access/audit/audit-log.ts'
import { AlertActions } from '../../alerts/alert-actions.ts'
import { removeOldAlerts } from '../../alerts/alert-expiry.ts'
import { startAlertMessages } from '../../alerts/alert-messages.ts'
import { alertRoutes } from '../../alerts/alert-routes.ts'
import type { ExpiredTimers } from '../../alerts/alert-timers.ts'
import { backtestRoutes } from '../../alerts/backtest-routes.ts'
import { noteDowntime } from '../../alerts/downtime-entry.ts'
import { FleetRuleEntries } from '../../alerts/fleet-rule-entries.ts'
import { fleetRuleRoutes } from '../../alerts/fleet-rule-routes.ts'
import { TimerEntries } from '../../alerts/timer-entries.ts'
import { AgeClock } from '../../core/age-clock.ts'
import { systemClock } from '../../core/clock.ts'
import type { GuardedRoutes } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import type { Purge } from '../../storage/state/purge-timer.ts'
import type { Domains } from './domains.ts'
import type { Engine } from './engine.ts'

/** Writes down that nobody was heard while the service was away: before anybody can send anything. */
export async function noteAbsence({ state, entries, lastThere }: Engine): Promise<void> {
  await noteDowntime({ state, entries, lastThere, clock: systemClock })
}

/** Begins to write timers of rules that have run out into the journal. */
function startTimers(
  { ports: { bellPort }, state, entries }: Engine,
  onFailure: (error: unknown) => void,
): void {
  const timers = new TimerEntries({ state, entries, clock: systemClock })
  bellPort.on('message', (expired: ExpiredTimers) => {
    timers.write(expired).catch(onFailure)
  })
  bellPort.unref()
}

export interface AlertingUpkeep {
  /** Removes some of what is older than it is kept. Resolves with whether there is more. */
  readonly purge: Purge
  stop(): Promise<void>
}

/** Begins what goes on about alerts by itself, beside the worker's part. */
export function startAlerting(
  engine: Engine,
  {
    mqtt,
    processing,
    keptUs,
    onFailure,
  }: {
    readonly mqtt: Pick<MqttBroker, 'publishToUser'> | undefined
    readonly processing: Domains['processing']
    /** How long alerts that have ended can be looked at (decisions.md#the-end-of-alerts). */
    readonly keptUs: number
    readonly onFailure: (error: unknown) => void
  },
): AlertingUpkeep {
  const { state, worker: writer, notified, entries } = engine
  startTimers(engine, onFailure)
  const clock = systemClock
  const rules = new FleetRuleEntries({ state, writer, entries, processing, clock, onFailure })
  rules.start()
  const messages = startAlertMessages({
    state,
    writer,
    onFailure,
    async publish({ ownerId, streamId, payload }) {
      const topic = `streams/${streamId}/events`
      await mqtt?.publishToUser(ownerId, { topic, payload, qos: 1 })
    },
  })
  const ages = new AgeClock(clock)
  const deaf = notified.listen(() => messages.wake())
  return {
    purge: () => removeOldAlerts({ state, writer, ages, keptUs }),
    async stop() {
      deaf()
      await Promise.all([messages.stop(), rules.stop()])
    },
  }
}

interface AlertingParts extends Domains {
  readonly engine: Engine
  readonly audit: AuditLog
  readonly posts: Posts
}

/** Composition of alerts as people see them. They are made in the worker (`src/processes/worker/alerts.ts`). */
export function alertingRoutes(parts: AlertingParts): readonly GuardedRoutes[] {
  const { state, entries, worker: writer } = parts.engine
  const { alerts, rules, backtests } = parts.alerts
  const clock = systemClock
  const actions = new AlertActions({ ...parts, alerts, entries, clock })
  const nowUs = () => clock.nowUs()
  return [
    (callerOf) => alertRoutes({ ...parts, state, alerts, actions, clock, callerOf }),
    (callerOf) => backtestRoutes({ ...parts, state, backtests, nowUs, callerOf }),
    (callerOf) => fleetRuleRoutes({ ...parts, rules, writer, callerOf }),
  ]
}
