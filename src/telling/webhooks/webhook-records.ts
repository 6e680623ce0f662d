import type { Static } from 'typebox'
import type { ListCursor } from '../../core/list-cursor.ts'
import { formatUs } from '../../core/time.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { Slice } from '../../storage/state/listing.ts'
import { attemptRecordsOf } from '../delivery/attempt-records.ts'
import type { loggedSchema } from './bearer-webhook-api.ts'
import type { CustomHeaders } from './custom-headers.ts'
import type { attemptSchema } from './webhook-api.ts'

/** One event in the log of a webhook, in the order of a list. */
export interface LoggedDelivery extends ListCursor {
  readonly body: Static<typeof loggedSchema>
}

/** Attempts of a webhook, the newest first: one record each (decisions.md#records-of-attempts). */
export async function attemptsOf(
  state: StateDatabase,
  webhookId: string,
  slice: Slice,
): Promise<readonly Static<typeof attemptSchema>[]> {
  const attempts = await attemptRecordsOf(state, webhookId, slice)
  return attempts.map(({ row, record }) => ({
    ...record,
    request_headers: JSON.parse(row.request_headers) as CustomHeaders,
    response_excerpt: row.response_excerpt,
  }))
}

/**
 * Events that a webhook is or was told of, the newest first, each with its attempts
 * (decisions.md#records-of-attempts).
 */
export async function logOf(
  state: StateDatabase,
  webhookId: string,
  { before, limit }: { readonly before: ListCursor | undefined; readonly limit: number },
): Promise<readonly LoggedDelivery[]> {
  let query = state
    .selectFrom('deliveries as delivery')
    .leftJoin('delivery_attempts as last', (join) =>
      join
        .onRef('last.delivery_id', '=', 'delivery.id')
        .onRef('last.attempt', '=', 'delivery.attempts'),
    )
    .select(['delivery.id', 'delivery.event_id', 'delivery.event_type', 'delivery.created_at'])
    .select(['delivery.state', 'delivery.attempts', 'last.status_code', 'last.duration_us'])
    .select(['last.message', 'last.delivered'])
    .where('delivery.receiver_id', '=', webhookId)
    .orderBy('delivery.created_at', 'desc')
    .orderBy('delivery.id', 'desc')
    .limit(limit)
  if (before) {
    query = query.where((where) =>
      where(
        where.refTuple('delivery.created_at', 'delivery.id'),
        '<',
        where.tuple(before.createdAtUs, before.id),
      ),
    )
  }
  return (await query.execute()).map((row) => ({
    createdAtUs: row.created_at,
    id: row.id,
    body: {
      eventId: row.event_id,
      eventType: row.event_type,
      deliveryStatus: row.state,
      httpStatus: row.status_code,
      responseTime: row.duration_us === null ? null : row.duration_us / 1_000,
      timestamp: formatUs(row.created_at),
      attempts: row.attempts,
      lastError: row.delivered === 1 ? null : row.message,
    },
  }))
}
