import { sql } from 'kysely'
import type { Clock } from '../../core/clock.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { TimeSeriesStore } from '../../storage/time-series/time-series-store.ts'
import { removeFromState } from './stream-rows.ts'

/** A deleted stream, and the offset from which on the journal has no more of it. */
export interface RemovedStream {
  readonly streamId: string
  readonly offset: number
}

interface Positioned {
  position(): number
}

export interface StreamRemovalNeeds {
  readonly state: StateDatabase
  readonly store: Pick<TimeSeriesStore, 'removeStreams' | 'counts' | 'placeLate'>
  readonly shipper: Positioned
  readonly decider: Positioned
  readonly clock: Clock
  readonly logger: { info(facts: object, message: string): void }
  /** Drops what is remembered of streams that nobody will meet again. */
  readonly forget: (streamIds: readonly string[]) => void
}

/**
 * Removes all that there is of deleted streams, once no consumer has entries of them ahead. Can be repeated after a
 * crash at any point: that it is done is written down last. Resolves with how many of the streams are removed: the
 * first ones.
 *
 * @param streams in the order of their offsets
 */
export async function removeStreams(
  needs: StreamRemovalNeeds,
  streams: readonly RemovedStream[],
): Promise<number> {
  const { state, store, shipper, decider, clock, logger, forget } = needs
  const passed = Math.min(shipper.position(), decider.position())
  const count = streams.findIndex(({ offset }) => offset > passed)
  const streamIds = streams.slice(0, count < 0 ? undefined : count).map(({ streamId }) => streamId)
  if (streamIds.length === 0) return 0
  for (const streamId of streamIds) await store.placeLate?.(streamId)
  const readings = await noteWhatGoes(needs, streamIds)
  await store.removeStreams(streamIds)
  await removeFromState(state, streamIds, clock.nowUs())
  forget(streamIds)
  logger.info({ streams: streamIds.length, readings }, 'the data of deleted streams is removed')
  return streamIds.length
}

/** Before the first of it goes: after a crash it could not be counted any more. Resolves with all readings stored. */
async function noteWhatGoes(
  { state, store }: StreamRemovalNeeds,
  streamIds: readonly string[],
): Promise<number> {
  const quarantined = sql<number>`(SELECT count(*) FROM quarantine
    WHERE quarantine.stream_id = data_stream_deletions.stream_id)`
  let readings = 0
  await state.transaction().execute(async (transaction) => {
    for (const streamId of streamIds) {
      const { stored } = store.counts(streamId)
      readings += stored
      await transaction
        .updateTable('data_stream_deletions')
        .set({
          removed_readings: larger('removed_readings', sql`${stored}`),
          removed_quarantine: larger('removed_quarantine', quarantined),
        })
        .where('stream_id', '=', streamId)
        .execute()
    }
  })
  return readings
}

/** After a crash some are gone already. */
function larger(column: string, found: ReturnType<typeof sql>) {
  const noted = sql.ref(column)
  return sql<number>`CASE WHEN ${found} > ${noted} THEN ${found} ELSE ${noted} END`
}
