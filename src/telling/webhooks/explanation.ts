import type { Static } from 'typebox'
import type { EgressGuard } from '../../egress/egress-guard.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { Webhook } from './webhook.ts'
import type { explanationSchema } from './webhook-action-api.ts'
import { filtered } from './webhook-actions.ts'
import { knownProblemOf } from './webhook-destination.ts'
import { filterAgainst } from './webhook-filters.ts'

type Explanation = Static<typeof explanationSchema>

/**
 * `fanned_out` of an event that was suppressed as a repetition
 * (decisions.md#repetitions-of-an-event).
 */
const suppressed = 2

/** Why an event was delivered to a webhook or not, check by check. */
export async function explain(
  { state, guard }: { readonly state: StateDatabase; readonly guard: EgressGuard },
  webhook: Webhook,
  eventId: string,
): Promise<Explanation> {
  const event = await state
    .selectFrom('events')
    .selectAll()
    .where('id', '=', eventId.toLowerCase())
    .where('owner_id', '=', webhook.ownerId)
    .executeTakeFirst()
  const exists = verdict('event', event !== undefined, {
    yes: 'the event is yours',
    no: 'you have no such event, or it is older than what is kept',
  })
  if (!event) {
    return { event_id: eventId, outcome: 'unknown_event', attempts: 0, checks: [exists] }
  }
  const delivery = await state
    .selectFrom('deliveries')
    .select(['state', 'attempts'])
    .where('event_id', '=', event.id)
    .where('receiver_id', '=', webhook.id)
    .executeTakeFirst()
  const problem = knownProblemOf(webhook.url, guard)
  const filter = filterAgainst(webhook.filters, filtered(event, webhook.ownerId))
  return {
    event_id: event.id,
    outcome: delivery?.state ?? 'not_sent',
    attempts: delivery?.attempts ?? 0,
    checks: [
      exists,
      verdict('deduplication', event.fanned_out !== suppressed, {
        yes: 'it is no repetition',
        no: 'it repeats an event of the five minutes before, and no one was notified',
      }),
      verdict('event_types', webhook.eventTypes.includes(event.type), {
        yes: `the webhook is subscribed to ${event.type}`,
        no: `the webhook is not subscribed to ${event.type}`,
      }),
      verdict('filters', filter === undefined, {
        yes: 'no filter is against it',
        no: `${filter} leaves it out`,
      }),
      verdict('status', webhook.status === 'ACTIVE', {
        yes: 'the webhook is ACTIVE now',
        no: `the webhook is ${webhook.status} now`,
      }),
      verdict('destination', problem === undefined, {
        yes: 'nothing is known against where it leads to',
        no: `nothing can be sent there: ${problem}`,
      }),
      verdict('delivery', delivery !== undefined, {
        yes: `there is a delivery, and it is ${delivery?.state}`,
        no: 'no delivery was made when it happened: the webhook was not there, or was another then',
      }),
    ],
  }
}

function verdict(
  check: string,
  passed: boolean,
  { yes, no }: { readonly yes: string; readonly no: string },
): Explanation['checks'][number] {
  return { check, passed, message: passed ? yes : no }
}
