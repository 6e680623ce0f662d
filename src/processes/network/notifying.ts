import type { Config } from '../../config/config.ts'
import { AgeClock } from '../../core/age-clock.ts'
import { systemClock } from '../../core/clock.ts'
import { removeOldEvents } from '../../outbox/events/event-expiry.ts'
import type { LiveParts } from '../../reading/live/tail-routes.ts'
import type { GuardedRoutes } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import type { Purge } from '../../storage/state/purge-timer.ts'
import { catalogueRoutes } from '../../telling/catalogue/catalogue-routes.ts'
import { inboxRoutes } from '../../telling/notifications/inbox/inbox-routes.ts'
import { InboxStore } from '../../telling/notifications/inbox/inbox-store.ts'
import { inboxTailRoute } from '../../telling/notifications/inbox/inbox-tail-route.ts'
import type { NotifiedOwners } from '../../telling/notifications/notified-owners.ts'
import {
  type PreferenceRoutesNeeds,
  preferenceRoutes,
} from '../../telling/notifications/preferences/preference-routes.ts'
import { PreferenceStore } from '../../telling/notifications/preferences/preference-store.ts'
import type { Engine } from './engine.ts'

export type Notifying = ReturnType<typeof openNotifying>

/** Composition of how users are notified, as they see it. It is written down in the worker (`src/processes/worker/fan-out.ts`). */
export function openNotifying(
  { state, worker: writer }: Engine,
  {
    deliveriesKeptUs: keptUs,
    reach,
  }: Pick<Config, 'deliveriesKeptUs'> & Pick<PreferenceRoutesNeeds, 'reach'>,
) {
  const inbox = new InboxStore({ state, writer, clock: systemClock })
  const ages = new AgeClock(systemClock)
  const purges: readonly Purge[] = [
    () => inbox.purge(),
    () => removeOldEvents({ state, writer, ages, keptUs }),
  ]
  return { inbox, preferences: new PreferenceStore(state, writer), reach, purges }
}

interface RoutedParts extends Notifying {
  readonly posts: Posts
  readonly notified: NotifiedOwners
  readonly live: Pick<LiveParts, 'tails' | 'onFailure'>
}

export function notifyingRoutes(parts: RoutedParts): readonly GuardedRoutes[] {
  return [
    catalogueRoutes,
    (callerOf) => preferenceRoutes({ ...parts, callerOf }),
    (callerOf) => inboxRoutes({ ...parts, callerOf }),
    (callerOf) => inboxTailRoute({ ...parts, ...parts.live, callerOf }),
  ]
}
