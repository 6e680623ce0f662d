import type { StateDatabase } from '../../storage/state/database.ts'
import { padded, portionsOf } from '../../storage/state/portions.ts'
import type { DeskRequest, EndedAttempt } from './desk.ts'

/** An attempt that is written down. */
export interface RecordedAttempt {
  readonly ended: EndedAttempt
  /** Number of the attempt, from 1 on. */
  readonly attempt: number
  /**
   * Whether anything follows from it. Nothing does from the failure of who comes late: its lease was over,
   * and another process has taken the delivery, or it was cancelled meanwhile.
   */
  readonly counts: boolean
}

/** Writes down attempts that have ended, and what follows for their deliveries. */
export async function recordAttempts(
  transaction: StateDatabase,
  request: Pick<DeskRequest, 'ended' | 'lease'>,
): Promise<readonly RecordedAttempt[]> {
  if (request.ended.length === 0) return []
  const recorded = await numbered(transaction, request)
  for (const some of portionsOf(recorded)) {
    await transaction
      .insertInto('delivery_attempts')
      .values(some.map(attemptRow))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
  }
  const delivered = recorded.filter(({ ended }) => ended.delivered)
  if (delivered.length > 0) {
    await transaction
      .updateTable('deliveries')
      .set({ state: 'delivered', due_at: null, lease: null })
      .where('id', 'in', padded(delivered.map(({ ended }) => ended.deliveryId)))
      .execute()
  }
  for (const { ended, counts } of recorded) {
    if (!ended.delivered) await recordFailure(transaction, ended, { ...request, counts })
  }
  return recorded
}

/**
 * Counts the attempts of each delivery, whoever has made them. Their numbers are given here, because two
 * processes may have made what each of them takes for the same one.
 */
async function numbered(
  transaction: StateDatabase,
  { ended, lease }: Pick<DeskRequest, 'ended' | 'lease'>,
): Promise<readonly RecordedAttempt[]> {
  const rows = await transaction
    .updateTable('deliveries')
    .set((row) => ({
      attempts: row('attempts', '+', 1),
      last_attempt_at: Math.max(...ended.map(({ endedUs }) => endedUs)),
    }))
    .where('id', 'in', padded(ended.map(({ deliveryId }) => deliveryId)))
    .returning(['id', 'attempts', 'state', 'lease'])
    .execute()
  const known = new Map(rows.map((row) => [row.id, row]))
  return ended.flatMap((one) => {
    const row = known.get(one.deliveryId)
    // What was kept long enough is gone, whatever becomes of it.
    if (row === undefined) return []
    const isOurs = row.state === 'pending' && row.lease === lease
    return [{ ended: one, attempt: row.attempts, counts: one.delivered || isOurs }]
  })
}

async function recordFailure(
  transaction: StateDatabase,
  { deliveryId, state, phase, dueAtUs }: EndedAttempt,
  { lease, counts }: { readonly lease: string; readonly counts: boolean },
): Promise<void> {
  await transaction
    .updateTable('deliveries')
    .set({ lease: null, ...(counts && { state, phase, due_at: dueAtUs ?? null }) })
    .where('id', '=', deliveryId)
    .where('lease', '=', lease)
    .execute()
}

function attemptRow({ ended, attempt }: RecordedAttempt) {
  return {
    delivery_id: ended.deliveryId,
    attempt,
    receiver_id: ended.receiverId,
    event_id: ended.eventId,
    event_type: ended.eventType,
    attempted_at: ended.attemptedAtUs,
    duration_us: ended.durationUs,
    status_code: ended.statusCode ?? null,
    delivered: Number(ended.delivered),
    message: ended.message,
    next_attempt_at: ended.nextAttemptAtUs ?? null,
    request_headers: ended.requestHeaders,
    response_excerpt: ended.responseExcerpt,
  }
}
