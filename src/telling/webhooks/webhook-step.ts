import type { Selectable } from 'kysely'
import { type Clocks, steadyUsOf } from '../../core/clock.ts'
import { bodyOf } from '../../outbox/events/event-body.ts'
import { formatOf, isCoalesced } from '../../outbox/events/event-types.ts'
import type { RecordedEvent } from '../../outbox/events/events.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { portionsOf } from '../../storage/state/portions.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { newDeliveryId, type Phase } from '../delivery/delivery.ts'
import { filterAgainst, type WebhookFilters } from './webhook-filters.ts'

/** What a delivery is made of: the event, and the webhook that receives it. */
export interface PlannedDelivery {
  readonly event: Pick<RecordedEvent, 'id' | 'ownerId' | 'type' | 'resourceId'>
  readonly receiverId: string
  readonly phase: Phase
  readonly attemptsMax: number
  readonly createdAtUs: number
  /** Time when it is due, in steady time. */
  readonly dueAtUs: number
}

/**
 * Plans the deliveries of an event to all webhooks that want it
 * (decisions.md#events-and-their-changes, decisions.md#filters-of-webhooks), in the transaction
 * that writes the event.
 *
 * @param onPlanned told of the webhooks; nothing is committed yet
 */
export function webhookStep(onPlanned: (webhookIds: readonly string[]) => void, clock: Clocks) {
  return async (transaction: StateDatabase, event: RecordedEvent): Promise<number> => {
    if (formatOf(event.type) === 'none') return 0
    const wanting = await webhooksFor(transaction, event)
    if (wanting.length === 0) return 0
    const rest = isCoalesced(event.type) ? await notReplaced(transaction, event, wanting) : wanting
    const rows = rest.map((webhook) =>
      deliveryRow({
        event,
        receiverId: webhook.id,
        phase: 'inline',
        attemptsMax: webhook.retry_count + 1,
        createdAtUs: event.atUs,
        dueAtUs: steadyUsOf(clock, event.atUs),
      }),
    )
    for (const some of portionsOf(rows)) {
      await transaction.insertInto('deliveries').values(some).execute()
    }
    onPlanned(wanting.map(({ id }) => id))
    return wanting.length
  }
}

/** A delivery that is due at the time of its event: so those of one resource are in order. */
export function deliveryRow(planned: PlannedDelivery) {
  const { event, receiverId, phase, attemptsMax, createdAtUs, dueAtUs } = planned
  return {
    id: newDeliveryId(),
    event_id: event.id,
    receiver_id: receiverId,
    owner_id: event.ownerId,
    event_type: event.type,
    resource_id: event.resourceId,
    created_at: createdAtUs,
    state: 'pending',
    phase,
    attempts: 0,
    attempts_max: attemptsMax,
    due_at: dueAtUs,
    lease: null,
    last_attempt_at: null,
    body: null,
  }
}

type WantingWebhook = Pick<Selectable<StateSchema['webhooks']>, 'id' | 'filters' | 'retry_count'>

async function webhooksFor(
  transaction: StateDatabase,
  event: RecordedEvent,
): Promise<readonly WantingWebhook[]> {
  const rows = await transaction
    .selectFrom('webhook_subscriptions as subscription')
    .innerJoin('webhooks', 'webhooks.id', 'subscription.webhook_id')
    .select(['webhooks.id', 'webhooks.filters', 'webhooks.retry_count'])
    .where('subscription.owner_id', '=', event.ownerId)
    .where('subscription.event_type', '=', event.type)
    .execute()
  return rows.filter(({ filters }) => {
    return filters === '{}' || !filterAgainst(JSON.parse(filters) as WebhookFilters, event)
  })
}

/**
 * Puts the event in the place of those of its resource that were not sent yet, and adds their
 * counts (decisions.md#events-that-are-coalesced).
 */
async function notReplaced(
  transaction: StateDatabase,
  event: RecordedEvent,
  wanting: readonly WantingWebhook[],
): Promise<readonly WantingWebhook[]> {
  const rest: WantingWebhook[] = []
  for (const webhook of wanting) {
    const unsent = await transaction
      .selectFrom('deliveries')
      .innerJoin('events', 'events.id', 'deliveries.event_id')
      .select(['deliveries.id', 'deliveries.body as own', 'events.data'])
      .where('deliveries.receiver_id', '=', webhook.id)
      .where('deliveries.resource_id', '=', event.resourceId)
      .where('deliveries.due_at', 'is not', null)
      .where('deliveries.event_type', '=', event.type)
      .where('deliveries.attempts', '=', 0)
      .where('deliveries.lease', 'is', null)
      .executeTakeFirst()
    if (unsent === undefined) rest.push(webhook)
    else {
      const data = withCountsOf(dataOf(unsent), event.data)
      await transaction
        .updateTable('deliveries')
        .set({ event_id: event.id, body: bodyOf({ ...event, data }) })
        .where('id', '=', unsent.id)
        .execute()
    }
  }
  return rest
}

/** The data of an event, with what was counted by the one whose place it takes. */
function withCountsOf(before: Counted, data: string): string {
  const now = JSON.parse(data) as Counted
  if (typeof before.count !== 'number' || typeof now.count !== 'number') return data
  return JSON.stringify({ ...now, count: before.count + now.count })
}

/** The data of a delivery: of several events, or of its own. */
function dataOf({ own, data }: { readonly own: string | null; readonly data: string }): Counted {
  return own === null ? JSON.parse(data) : (JSON.parse(own) as { readonly data: Counted }).data
}

interface Counted {
  readonly count?: unknown
}
