import { AlertActions } from './alerts/alert-actions.ts'
import { alertRoutes } from './alerts/alert-routes.ts'
import { AlertStore } from './alerts/alert-store.ts'
import { systemClock } from './core/clock.ts'
import type { Domains } from './domains.ts'
import type { Engine } from './engine.ts'
import type { GuardedRoutes } from './http/server.ts'
import type { Posts } from './idempotency/posts.ts'

interface AlertingParts extends Domains {
  readonly engine: Engine
  readonly posts: Posts
}

/** Composition of alerts as people see them. They are made in the worker (`worker-alerts.ts`). */
export function alertingRoutes(parts: AlertingParts): readonly GuardedRoutes[] {
  const { state, entries } = parts.engine
  const alerts = new AlertStore(state)
  const clock = systemClock
  const actions = new AlertActions({ ...parts, alerts, entries, clock })
  return [(callerOf) => alertRoutes({ ...parts, state, alerts, actions, clock, callerOf })]
}
