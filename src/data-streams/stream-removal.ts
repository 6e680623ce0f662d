import { sql } from 'kysely'
import { systemClock } from '../core/clock.ts'
import type { StateDatabase } from '../state/database.ts'
import type { TimeSeriesStore } from '../time-series/time-series-store.ts'

/** Rows that one transaction removes: each may hold the bytes of a message. */
const rowsPerTransaction = 500

/** A deleted stream, and the offset from which on the journal has no more of it. */
export interface RemovedStream {
  readonly streamId: string
  readonly offset: number
}

/** What the state has of a stream in tables of few rows each. */
const tables = [
  'data_stream_versions',
  'stream_counters',
  'alert_memories',
  'alert_history',
  'alerts',
  'alert_rule_changes',
  'alert_rule_omissions',
] as const

interface Positioned {
  position(): number
}

export interface StreamRemovalNeeds {
  readonly state: StateDatabase
  readonly store: Pick<TimeSeriesStore, 'removeStream'>
  readonly shipper: Positioned
  readonly decider: Positioned
  readonly logger: { info(facts: object, message: string): void }
}

/** Removes the data of a deleted stream. False while a consumer has entries of it ahead. */
export async function removeStream(
  { state, store, shipper, decider, logger }: StreamRemovalNeeds,
  { streamId, offset }: RemovedStream,
): Promise<boolean> {
  if (Math.min(shipper.position(), decider.position()) < offset) return false
  const readings = await store.removeStream(streamId)
  await removeFromState(state, { streamId, readings, nowUs: systemClock.nowUs() })
  logger.info({ streamId, readings }, 'the data of a deleted stream is removed')
  return true
}

/**
 * Removes what the state holds of a deleted stream, once its readings are out of the store and no
 * consumer will meet it again. Can be repeated after a crash at any point: that it is done is written
 * down last.
 */
async function removeFromState(
  state: StateDatabase,
  {
    streamId,
    readings,
    nowUs,
  }: {
    readonly streamId: string
    /** Readings that were in the store. */
    readonly readings: number
    readonly nowUs: number
  },
): Promise<void> {
  const quarantined = sql<number>`(SELECT count(*) FROM quarantine WHERE stream_id = ${streamId})`
  await state
    .updateTable('data_stream_deletions')
    .set({
      removed_readings: readings,
      // After a crash some are gone already.
      removed_quarantine: sql<number>`CASE WHEN ${quarantined} > removed_quarantine
        THEN ${quarantined} ELSE removed_quarantine END`,
    })
    .where('stream_id', '=', streamId)
    .execute()
  while (await removeQuarantine(state, streamId)) continue
  await state.transaction().execute(async (transaction) => {
    for (const table of tables) {
      await transaction.deleteFrom(table).where('stream_id', '=', streamId).execute()
    }
    await transaction
      .updateTable('data_stream_deletions')
      .set({ removed_at: nowUs })
      .where('stream_id', '=', streamId)
      .execute()
  })
}

/** Removes some of the rows. Resolves with whether there may be more. */
async function removeQuarantine(state: StateDatabase, streamId: string): Promise<boolean> {
  const { numDeletedRows } = await state
    .deleteFrom('quarantine')
    .where('stream_id', '=', streamId)
    .where('journal_offset', 'in', (rows) =>
      rows
        .selectFrom('quarantine')
        .select('journal_offset')
        .where('stream_id', '=', streamId)
        .orderBy('journal_offset')
        .limit(rowsPerTransaction),
    )
    .executeTakeFirst()
  return numDeletedRows > 0n
}
