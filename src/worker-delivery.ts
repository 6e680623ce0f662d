import type { MessagePort } from 'node:worker_threads'
import { systemClock } from './core/clock.ts'
import type { UserId } from './core/ids.ts'
import type { DeskProcedures } from './delivery/delivery-procedures.ts'
import type { DeskRequest } from './delivery/desk.ts'
import { type DisabledWebhook, StateDesk } from './delivery/state-desk.ts'
import { Events } from './events/events.ts'
import type { StateDatabase, Tell } from './state/database.ts'
import { openTelling } from './telling.ts'
import { serveCalls } from './threads/rpc.ts'
import { webhookStep } from './webhooks/webhook-step.ts'

/**
 * Composition of what the worker does for deliveries: it writes them with their events, and answers the
 * thread that delivers, from when it asks.
 */
export async function openDeliveryDesk(
  state: StateDatabase,
  port: MessagePort,
  onTold: (ownerIds: ReadonlySet<UserId>) => void,
): Promise<Tell> {
  const planned = new Set<string>()
  let announce = () => planned.clear()
  const tell = await openTelling(state, {
    plan: webhookStep((ids) => {
      for (const id of ids) planned.add(id)
    }),
    onTold(ownerIds) {
      announce()
      onTold(ownerIds)
    },
  })
  const desk = new StateDesk({ state, tell, recordDisabled })
  // One process has the folder: whatever is leased was leased by one that is gone.
  await desk.takeBack(systemClock.nowUs())
  announce = () => {
    desk.announce(planned)
    planned.clear()
  }
  const procedures: DeskProcedures = {
    exchange: (request: DeskRequest) => desk.exchange(request),
    news: () => desk.news(),
  }
  serveCalls(port, procedures)
  return tell
}

async function recordDisabled(
  transaction: StateDatabase,
  { id, ownerId, url, consecutiveFailures }: DisabledWebhook,
): Promise<void> {
  const changes = new Events(transaction, systemClock).record({
    type: 'security.webhook_disabled',
    ownerId,
    resourceType: 'webhook',
    resourceId: id,
    data: { id, url, consecutive_failures: consecutiveFailures },
  })
  for (const change of changes) await transaction.executeQuery(change.compile())
}
