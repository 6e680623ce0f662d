import type { MessagePort } from 'node:worker_threads'
import type { Clock } from './core/clock.ts'
import type { UserId } from './core/ids.ts'
import type { DeskProcedures } from './delivery/delivery-procedures.ts'
import type { DeskRequest } from './delivery/desk.ts'
import { type DisabledWebhook, StateDesk } from './delivery/state-desk.ts'
import { CoalescedEvents } from './events/coalesced-events.ts'
import { Events } from './events/events.ts'
import type { FanOut, ToldStatus } from './notifications/fan-out.ts'
import type { StateDatabase } from './state/database.ts'
import { openTelling } from './telling.ts'
import { serveCalls } from './threads/rpc.ts'
import { webhookStep } from './webhooks/webhook-step.ts'

export interface DeskNeeds {
  readonly state: StateDatabase
  readonly clock: Clock
  /** Once it is committed, with whose events were told. */
  readonly onTold: (ownerIds: ReadonlySet<UserId>) => void
}

/** What is told: with the changes that it follows from, and by itself. */
export interface Telling {
  readonly tell: FanOut['tell']
  status(): ToldStatus
  /** Tells what waits, and what is due, until the signal says to stop. */
  run(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<unknown>
}

/** Answers the thread that delivers, from when it asks. */
export async function serveDeliveryDesk(needs: DeskNeeds, port: MessagePort): Promise<Telling> {
  const { desk, fanOut } = await openDeliveryDesk(needs)
  const procedures: DeskProcedures = {
    exchange: (request: DeskRequest) => desk.exchange(request),
    news: () => desk.news(),
  }
  serveCalls(port, procedures)
  const { state, clock } = needs
  const { tell } = fanOut
  const coalesced = new CoalescedEvents(state, clock, tell)
  return {
    tell,
    status: () => fanOut.status(),
    run: (signal, onFailure) =>
      Promise.all([fanOut.run(state, signal, onFailure), coalesced.run(signal, onFailure)]),
  }
}

/** Composition of what writes the state for deliveries: they are written with their events. */
export async function openDeliveryDesk({ state, clock, onTold }: DeskNeeds) {
  const planned = new Set<string>()
  const desk: StateDesk = new StateDesk({
    state,
    tell: (transaction) => fanOut.tell(transaction),
    recordDisabled: (transaction, webhook) => recordDisabled(transaction, webhook, clock),
  })
  // One process has the folder: whatever is leased was leased by one that is gone.
  await desk.takeBack(clock.nowUs())
  const fanOut: FanOut = await openTelling(state, {
    plan: webhookStep((ids) => {
      for (const id of ids) planned.add(id)
    }),
    onTold(ownerIds) {
      desk.announce(planned)
      planned.clear()
      onTold(ownerIds)
    },
  })
  return { desk, fanOut }
}

async function recordDisabled(
  transaction: StateDatabase,
  { id, ownerId, url, consecutiveFailures }: DisabledWebhook,
  clock: Clock,
): Promise<void> {
  const changes = new Events(transaction, clock).record({
    type: 'security.webhook_disabled',
    ownerId,
    resourceType: 'webhook',
    resourceId: id,
    data: { id, url, consecutive_failures: consecutiveFailures },
  })
  for (const change of changes) await transaction.executeQuery(change.compile())
}
