import { formatUs } from '../../core/time.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { Slice } from '../../storage/state/listing.ts'
import { attemptIdOf } from './delivery.ts'

/**
 * Attempts to tell a receiver, the newest first, with what the record of any channel has
 * (decisions.md#records-of-attempts).
 */
export async function attemptRecordsOf(
  state: StateDatabase,
  receiverId: string,
  { offset, limit }: Slice,
) {
  const rows = await state
    .selectFrom('delivery_attempts')
    .selectAll()
    .where('receiver_id', '=', receiverId)
    .orderBy('attempted_at', 'desc')
    .orderBy('delivery_id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  return rows.map((row) => ({
    row,
    record: {
      id: attemptIdOf(row.delivery_id, row.attempt),
      created_at: formatUs(row.attempted_at),
      delivery_id: row.delivery_id,
      event_id: row.event_id,
      event_type: row.event_type,
      attempt: row.attempt,
      status_code: row.status_code,
      duration_ms: row.duration_us / 1_000,
      message: row.message,
      delivered: row.delivered === 1,
      attempted_at: formatUs(row.attempted_at),
      next_attempt_at: row.next_attempt_at === null ? null : formatUs(row.next_attempt_at),
    },
  }))
}
