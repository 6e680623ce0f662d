import type { Config } from './config/config.ts'
import { systemClock } from './core/clock.ts'
import type { Engine } from './engine.ts'
import { catalogueRoutes } from './events/catalogue-routes.ts'
import { removeOldEvents } from './events/event-expiry.ts'
import type { GuardedRoutes } from './http/server.ts'
import type { Posts } from './idempotency/posts.ts'
import type { LiveParts } from './live/tail-routes.ts'
import { inboxRoutes } from './notifications/inbox/inbox-routes.ts'
import { InboxStore } from './notifications/inbox/inbox-store.ts'
import { inboxTailRoute } from './notifications/inbox/inbox-tail-route.ts'
import {
  type PreferenceRoutesNeeds,
  preferenceRoutes,
} from './notifications/preferences/preference-routes.ts'
import { PreferenceStore } from './notifications/preferences/preference-store.ts'
import type { Told } from './notifications/told.ts'
import type { Purge } from './state/purge-timer.ts'

export type Notifying = ReturnType<typeof openNotifying>

/** Composition of what users are told, as they see it. It is written down in the worker (`telling.ts`). */
export function openNotifying(
  { state, worker: writer }: Engine,
  {
    deliveriesKeptUs: keptUs,
    reach,
  }: Pick<Config, 'deliveriesKeptUs'> & Pick<PreferenceRoutesNeeds, 'reach'>,
) {
  const inbox = new InboxStore(state, writer, systemClock)
  const purges: readonly Purge[] = [
    () => inbox.purge(),
    () => removeOldEvents({ state, writer, clock: systemClock, keptUs }),
  ]
  return { inbox, preferences: new PreferenceStore(state, writer), reach, purges }
}

interface RoutedParts extends Notifying {
  readonly posts: Posts
  readonly told: Told
  readonly live: Pick<LiveParts, 'tails' | 'onFailure'>
}

export function notifyingRoutes(parts: RoutedParts): readonly GuardedRoutes[] {
  return [
    () => catalogueRoutes(),
    (callerOf) => preferenceRoutes({ ...parts, callerOf }),
    (callerOf) => inboxRoutes({ ...parts, callerOf }),
    (callerOf) => inboxTailRoute({ ...parts, ...parts.live, callerOf }),
  ]
}
