import type { UserId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'

/** More than one reading causes, as a rule: an answer names the first of them, and says that there are more. */
const deliveriesMax = 500
const attemptsMax = 2_000
const inboxMax = 500

export interface SentEvent {
  readonly eventId: string
  /** Null for an event that is kept no longer. */
  readonly type: string | null
  readonly atUs: number | null
  readonly deliveries: readonly SentDelivery[]
  readonly inbox: readonly InboxNote[]
}

export interface SentDelivery {
  readonly deliveryId: string
  readonly channel: string
  readonly receiverId: string
  readonly state: string
  /** How many attempts there were; some may be kept no longer. */
  readonly attemptsMade: number
  readonly attempts: readonly SentAttempt[]
}

export interface SentAttempt {
  readonly attempt: number
  readonly attemptedAtUs: number
  readonly statusCode: number | null
  readonly durationUs: number
  readonly delivered: boolean
  readonly message: string
}

export interface InboxNote {
  readonly entryId: string
  readonly createdAtUs: number
  readonly title: string
}

export interface SentNotices {
  readonly events: ReadonlyMap<string, SentEvent>
  readonly hasMore: boolean
}

/** An event, with the alert that it is about. */
export interface NamedEvent {
  readonly eventId: string
  readonly alertId: string
}

/** Which notices of events have gone to their owner, and what happened to them. */
export async function noticesOf(
  state: StateDatabase,
  ownerId: UserId,
  named: readonly NamedEvent[],
): Promise<SentNotices> {
  const ids = [...new Set(named.map(({ eventId }) => eventId))]
  if (ids.length === 0) return { events: new Map(), hasMore: false }
  const events = await state
    .selectFrom('events')
    .select(['id', 'type', 'at'])
    .where('id', 'in', ids)
    .where('owner_id', '=', ownerId)
    .execute()
  const kept = new Map(events.map((event) => [event.id, event]))
  const deliveries = await deliveriesOf(state, ownerId, ids)
  const inbox = await inboxOf(state, ownerId, named)
  const all = new Map(
    ids.map((eventId) => {
      const event: SentEvent = {
        eventId,
        type: kept.get(eventId)?.type ?? null,
        atUs: kept.get(eventId)?.at ?? null,
        deliveries: deliveries.byEvent.get(eventId) ?? [],
        inbox: inbox.byEvent.get(eventId) ?? [],
      }
      return [eventId, event]
    }),
  )
  return { events: all, hasMore: deliveries.hasMore || inbox.hasMore }
}

async function deliveriesOf(state: StateDatabase, ownerId: UserId, eventIds: readonly string[]) {
  const rows = await state
    .selectFrom('deliveries')
    .select(['id', 'event_id', 'channel', 'receiver_id', 'state', 'attempts'])
    .where('event_id', 'in', eventIds)
    .where('owner_id', '=', ownerId)
    .orderBy('created_at')
    .orderBy('id')
    .limit(deliveriesMax + 1)
    .execute()
  const shown = rows.slice(0, deliveriesMax)
  const attempts = await attemptsOf(
    state,
    shown.map(({ id }) => id),
  )
  const byEvent = new Map<string, SentDelivery[]>()
  for (const row of shown) {
    const delivery = {
      deliveryId: row.id,
      channel: row.channel,
      receiverId: row.receiver_id,
      state: row.state,
      attemptsMade: row.attempts,
      attempts: attempts.byDelivery.get(row.id) ?? [],
    }
    const known = byEvent.get(row.event_id)
    if (known) known.push(delivery)
    else byEvent.set(row.event_id, [delivery])
  }
  return { byEvent, hasMore: rows.length > shown.length || attempts.hasMore }
}

async function attemptsOf(state: StateDatabase, deliveryIds: readonly string[]) {
  const byDelivery = new Map<string, SentAttempt[]>()
  if (deliveryIds.length === 0) return { byDelivery, hasMore: false }
  const rows = await state
    .selectFrom('delivery_attempts')
    .select(['delivery_id', 'attempt', 'attempted_at', 'status_code', 'duration_us'])
    .select(['delivered', 'message'])
    .where('delivery_id', 'in', deliveryIds)
    .orderBy('delivery_id')
    .orderBy('attempt')
    .limit(attemptsMax + 1)
    .execute()
  for (const row of rows.slice(0, attemptsMax)) {
    const attempt = {
      attempt: row.attempt,
      attemptedAtUs: row.attempted_at,
      statusCode: row.status_code,
      durationUs: row.duration_us,
      delivered: row.delivered === 1,
      message: row.message,
    }
    const known = byDelivery.get(row.delivery_id)
    if (known) known.push(attempt)
    else byDelivery.set(row.delivery_id, [attempt])
  }
  return { byDelivery, hasMore: rows.length > attemptsMax }
}

/** Entries are found by the resource, for which there is an index. */
async function inboxOf(state: StateDatabase, ownerId: UserId, named: readonly NamedEvent[]) {
  const rows = await state
    .selectFrom('inbox_entries')
    .select(['id', 'event_id', 'created_at', 'title'])
    .where('owner_id', '=', ownerId)
    .where('resource_id', 'in', [...new Set(named.map(({ alertId }) => alertId))])
    .where('event_id', 'in', [...new Set(named.map(({ eventId }) => eventId))])
    .orderBy('position')
    .limit(inboxMax + 1)
    .execute()
  const byEvent = new Map<string, InboxNote[]>()
  for (const { id, event_id: eventId, created_at: createdAtUs, title } of rows.slice(0, inboxMax)) {
    const note = { entryId: id, createdAtUs, title }
    const known = byEvent.get(eventId)
    if (known) known.push(note)
    else byEvent.set(eventId, [note])
  }
  return { byEvent, hasMore: rows.length > inboxMax }
}
