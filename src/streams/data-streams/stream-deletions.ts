import type { StreamId, UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'

/** A stream that was deleted, and what has been removed of it. */
export interface StreamDeletion {
  readonly streamId: StreamId
  readonly name: string
  readonly deletedAtUs: number
  /** Undefined while there is something left. */
  readonly removedAtUs: number | undefined
  readonly removedReadings: number
  readonly removedQuarantine: number
}

/** The end of a stream of this owner. */
export async function findDeletion(
  state: StateDatabase,
  ownerId: UserId,
  id: StreamId,
): Promise<StreamDeletion | undefined> {
  const row = await state
    .selectFrom('data_stream_deletions')
    .selectAll()
    .where('stream_id', '=', id)
    .where('owner_id', '=', ownerId)
    .executeTakeFirst()
  return (
    row && {
      streamId: id,
      name: row.name,
      deletedAtUs: row.deleted_at,
      removedAtUs: row.removed_at ?? undefined,
      removedReadings: row.removed_readings,
      removedQuarantine: row.removed_quarantine,
    }
  )
}
