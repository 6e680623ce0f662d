import type { AuthenticatedCaller } from '../../access/auth/authenticate.ts'
import { grants } from '../../access/auth/scopes.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import type { OwnerActivity } from '../../ingest/activity/owner-activity.ts'
import type {
  HeldGroup,
  OwnerCounts,
  OwnerQuarantine,
} from '../../ingest/quarantine/owner-quarantine.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { type FetchedStream, fetchedStreams } from '../../streams/data-streams/fetched-streams.ts'
import type { SourceStatus } from '../../streams/data-streams/stream-sources.ts'
import { type AlertFigures, alertFigures } from './alert-figures.ts'
import { type CountedStreams, type StreamFigures, streamFigures } from './stream-figures.ts'
import {
  type MailFigures,
  mailFigures,
  type WebhookFigures,
  webhookFigures,
} from './telling-figures.ts'

/** What needs somebody: so many of each kind are shown. */
export const worstMax = 5

export interface OverviewNeeds {
  readonly state: StateDatabase
  readonly worker: { activityOf(ownerId: UserId): Promise<OwnerActivity> }
  readonly ownerQuarantine: OwnerQuarantine
  readonly countedStreams: CountedStreams
  readonly sources: { statusOf(id: StreamId): SourceStatus | undefined }
  readonly nowUs: () => number
}

/** How all that an owner has is doing. */
export interface Overview {
  readonly activity: OwnerActivity
  readonly streams: StreamFigures
  readonly fetched: readonly FetchedStream[]
  readonly alerts: AlertFigures
  readonly quarantine: OwnerCounts & { readonly groups: readonly HeldGroup[] }
  /** Undefined for who may not see them. */
  readonly webhooks: WebhookFigures | undefined
  readonly mails: MailFigures | undefined
}

/** Looks at everything at once, in what is counted already or found by an index. */
export async function overviewOf(
  needs: OverviewNeeds,
  { userId, scope }: Pick<AuthenticatedCaller, 'userId' | 'scope'>,
): Promise<Overview> {
  const { state, worker, ownerQuarantine, sources, countedStreams } = needs
  const nowUs = needs.nowUs()
  const asked = worker.activityOf(userId)
  const fetched = await fetchedStreams(state, userId, (id) => sources.statusOf(id))
  const [activity, counted, alerts, counts, groups] = await Promise.all([
    asked,
    countedStreams.of(userId, nowUs),
    alertFigures(state, userId, worstMax),
    ownerQuarantine.counts(userId),
    ownerQuarantine.groups(userId, worstMax),
  ])
  return {
    activity,
    streams: streamFigures(counted, (id) => sources.statusOf(id)),
    fetched,
    alerts,
    quarantine: { ...counts, groups },
    webhooks: grants(scope, 'webhooks:read')
      ? await webhookFigures(state, userId, worstMax)
      : undefined,
    mails: grants(scope, 'notifications:read')
      ? await mailFigures(state, userId, nowUs)
      : undefined,
  }
}
