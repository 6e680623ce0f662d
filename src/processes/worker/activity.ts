import type { Logger } from 'pino'
import { systemClock } from '../../core/clock.ts'
import { Activity } from '../../ingest/activity/activity.ts'
import { streamOwners } from '../../ingest/activity/stream-owners.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { TimeSeriesStore } from '../../storage/time-series/time-series-store.ts'
import type { ActivityProcedures } from './worker-contract.ts'

interface ActivityParts {
  readonly state: StateDatabase
  readonly store: TimeSeriesStore
  readonly logger: Logger
}

/** What comes in, and what becomes of it, from now on. */
export function openActivity({ state, store, logger }: ActivityParts): Activity {
  return new Activity({
    clock: systemClock,
    ownersOf: (ids) => streamOwners(state, ids),
    storedOf: (id) => store.counts(id).stored,
    onFailure: (error) => logger.warn({ err: error }, 'what streams receive is not counted'),
  })
}

/** Procedures that other threads ask for activity. */
export function activityProcedures(
  composed: Promise<{ readonly activity: Activity }>,
): ActivityProcedures {
  return {
    async pacesOf(streamIds) {
      return (await composed).activity.of(streamIds)
    },
    async busiest({ ownerId, limit }) {
      return (await composed).activity.busiest(ownerId, limit)
    },
    async activityOf(ownerId) {
      return (await composed).activity.ofOwner(ownerId)
    },
  }
}
