import { randomUUID } from 'node:crypto'
import { type Compilable, sql } from 'kysely'
import { type Clocks, steadyUsOf } from '../../core/clock.ts'
import type { EventId, UserId } from '../../core/ids.ts'
import type { EventType } from '../../outbox/events/event-types.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { portionsOf } from '../../storage/state/portions.ts'
import { attemptsOfDeliveryMax, deliveryIdOf } from '../delivery/delivery.ts'
import type { Webhook } from './webhook.ts'
import { filterAgainst } from './webhook-filters.ts'
import { deliveryRow } from './webhook-step.ts'

/** Events that one recovery looks at. */
const recoveredMax = 5_000

/** What a test is about: no resource has it, and no recovery sends it again. */
const testResourceType = 'webhook'

/** An event that has not happened, for one webhook only. */
export function planTest(
  state: StateDatabase,
  { id: webhookId, ownerId }: Webhook,
  {
    type,
    atUs,
    dueAtUs,
  }: { readonly type: EventType; readonly atUs: number; readonly dueAtUs: number },
) {
  const id = randomUUID() as EventId
  const data = JSON.stringify({ id: webhookId, name: 'test', test: true })
  const event = { id, ownerId, type, resourceId: webhookId as string }
  const delivery = deliveryRow({
    event,
    receiverId: webhookId,
    phase: 'test',
    attemptsMax: 1,
    createdAtUs: atUs,
    dueAtUs,
  })
  const changes: readonly Compilable[] = [
    state.insertInto('events').values({
      id,
      owner_id: ownerId,
      type,
      at: atUs,
      resource_type: testResourceType,
      resource_id: webhookId,
      vault_id: null,
      stream_id: null,
      template_id: null,
      data,
      // Nobody else is told.
      fanned_out: 1,
    }),
    state.insertInto('deliveries').values(delivery),
  ]
  return { delivery, changes }
}

export async function findDelivery(state: StateDatabase, webhookId: string, id: string) {
  return await state
    .selectFrom('deliveries')
    .select(['id', 'event_id', 'event_type', 'state', 'attempts'])
    .where('id', '=', deliveryIdOf(id))
    .where('receiver_id', '=', webhookId)
    .executeTakeFirst()
}

/**
 * Opens a delivery again, unless it is under way, or has had more attempts than are told apart. What waits for
 * the next pass need not wait: its receiver was repaired meanwhile.
 */
export function planResend(
  state: StateDatabase,
  { retryCount }: Webhook,
  { id, dueAtUs }: { readonly id: string; readonly dueAtUs: number },
): Compilable {
  return state
    .updateTable('deliveries')
    .set((row) => ({
      state: 'pending',
      phase: 'repeat',
      attempts_max: row('attempts', '+', retryCount + 1),
      due_at: dueAtUs,
      last_attempt_at: null,
    }))
    .where('id', '=', id)
    .where((row) => row.or([row('due_at', 'is', null), row('phase', '=', 'background')]))
    .where('lease', 'is', null)
    .where('attempts', '<=', attemptsOfDeliveryMax - retryCount - 1)
}

export interface Recovery {
  readonly changes: readonly Compilable[]
  readonly recovered: number
  /** Where to go on; undefined when nothing is left. */
  readonly nextSinceUs: number | undefined
}

/**
 * Deliveries of what a webhook was not told of since then. What was suppressed as a repetition
 * stays so (decisions.md#repetitions-of-an-event), and what waits already goes on to wait.
 */
export async function planRecovery(
  state: StateDatabase,
  webhook: Webhook,
  { sinceUs, clock }: { readonly sinceUs: number; readonly clock: Clocks },
): Promise<Recovery> {
  const { id: webhookId, ownerId, eventTypes, retryCount } = webhook
  const events = await state
    .selectFrom('events')
    .leftJoin('deliveries as known', (join) =>
      join.onRef('known.event_id', '=', 'events.id').on('known.receiver_id', '=', webhookId),
    )
    .select(['events.id', 'events.type', 'events.at', 'events.resource_id', 'events.vault_id'])
    .select(['events.stream_id', 'events.template_id', 'events.severity', 'known.id as known_id'])
    .select(['known.state as known_state'])
    .where('events.owner_id', '=', ownerId)
    .where('events.at', '>=', sinceUs)
    .where('events.fanned_out', '=', 1)
    .where('events.resource_type', '!=', testResourceType)
    .where('events.type', 'in', eventTypes)
    .orderBy('events.at')
    .limit(recoveredMax + 1)
    .execute()
  const looked = events.slice(0, recoveredMax)
  const missed = looked.filter(
    (event) =>
      (event.known_state === null || reopened.has(event.known_state)) &&
      filterAgainst(webhook.filters, filtered(event, ownerId)) === undefined,
  )
  const again = missed.filter(({ known_id }) => known_id !== null)
  const rows = missed
    .filter(({ known_id }) => known_id === null)
    .map((event) =>
      deliveryRow({
        event: {
          id: event.id as EventId,
          ownerId,
          type: event.type as EventType,
          resourceId: event.resource_id,
        },
        receiverId: webhookId,
        phase: 'inline',
        attemptsMax: retryCount + 1,
        createdAtUs: event.at,
        dueAtUs: steadyUsOf(clock, event.at),
      }),
    )
  const next = events[recoveredMax]
  return {
    changes: [
      ...portionsOf(rows).map((some) => planDeliveries(state, some)),
      ...again.map(({ known_id }) =>
        planReopening(state, known_id ?? '', retryCount, clock.steadyUs()),
      ),
    ],
    recovered: missed.length,
    nextSinceUs: next?.at,
  }
}

/** A conflict counts as a row that was changed: it is told of already. */
function planDeliveries(
  state: StateDatabase,
  rows: readonly ReturnType<typeof deliveryRow>[],
): Compilable {
  const same = { event_type: sql<string>`excluded.event_type` }
  return state
    .insertInto('deliveries')
    .values(rows)
    .onConflict((conflict) => conflict.columns(['event_id', 'receiver_id']).doUpdateSet(same))
}

const reopened: ReadonlySet<string> = new Set(['failed', 'cancelled'])

/**
 * Plans the reopening. It is no failure of the recovery when it was opened by somebody else
 * meanwhile.
 */
function planReopening(state: StateDatabase, id: string, retryCount: number, dueAtUs: number) {
  const change = planResend(state, { retryCount } as Webhook, { id, dueAtUs })
  return { compile: () => change.compile(), isOptional: true } as Compilable
}

interface EventRow {
  readonly type: string
  readonly resource_id: string
  readonly vault_id: string | null
  readonly stream_id: string | null
  readonly template_id: string | null
  readonly severity: string | null
}

export function filtered(event: EventRow, ownerId: UserId) {
  return {
    type: event.type,
    ownerId,
    resourceId: event.resource_id,
    vaultId: event.vault_id ?? undefined,
    streamId: event.stream_id ?? undefined,
    templateId: event.template_id ?? undefined,
    severity: event.severity ?? undefined,
  }
}
