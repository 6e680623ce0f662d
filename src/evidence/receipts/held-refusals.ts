import type { ErrorDetail } from '../../core/errors.ts'
import type { StateDatabase } from '../../storage/state/database.ts'

/** A refused reading that the quarantine has now. */
export interface HeldRefusal {
  /** The place of its entry in the journal. */
  readonly offset: number
  /** The version that judged it last. */
  readonly streamVersion: number
  readonly receivedAtUs: number
  readonly reason: string
  readonly message: string
  readonly details: readonly ErrorDetail[]
  readonly source: string
  readonly sender: string | null
}

/** Refused readings of one time, in the order of their arrival. */
export async function refusalsAt(
  state: StateDatabase,
  { streamId, timestampUs, limit }: { streamId: string; timestampUs: number; limit: number },
): Promise<readonly HeldRefusal[]> {
  const rows = await state
    .selectFrom('quarantine')
    .select(['journal_offset', 'stream_version', 'received_at', 'reason', 'message', 'details'])
    .select(['source', 'sender'])
    .where('stream_id', '=', streamId)
    .where('timestamp', '=', timestampUs)
    .orderBy('journal_offset')
    .limit(limit)
    .execute()
  return rows.map((row) => ({
    offset: row.journal_offset,
    streamVersion: row.stream_version,
    receivedAtUs: row.received_at,
    reason: row.reason,
    message: row.message,
    details: JSON.parse(row.details) as ErrorDetail[],
    source: row.source,
    sender: row.sender,
  }))
}

/** How far the decider is: an entry before that is in the quarantine, or has left it. */
export async function decidedUntil(state: StateDatabase): Promise<number> {
  const row = await state
    .selectFrom('consumer_positions')
    .select('next_offset')
    .where('consumer', '=', 'decider')
    .executeTakeFirst()
  return row?.next_offset ?? 0
}
