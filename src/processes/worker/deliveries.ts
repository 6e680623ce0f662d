import type { MessagePort } from 'node:worker_threads'
import type { Clocks } from '../../core/clock.ts'
import type { UserId } from '../../core/ids.ts'
import { serveCalls } from '../../core/threads/rpc.ts'
import type { NotifyingStatus } from '../../operating/observability/processing-status.ts'
import { CoalescedEvents } from '../../outbox/events/coalesced-events.ts'
import { Events, type NewEvent } from '../../outbox/events/events.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { DeliveryChannel } from '../../telling/delivery/delivery.ts'
import type { DeskProcedures } from '../../telling/delivery/delivery-procedures.ts'
import type { DeskRequest } from '../../telling/delivery/desk.ts'
import type { DisabledReceiver } from '../../telling/delivery/failure-count.ts'
import { StateDesk } from '../../telling/delivery/state-desk.ts'
import type { FanOut } from '../../telling/notifications/fan-out.ts'
import { type OpenFanOut, openFanOut } from './fan-out.ts'

export interface DeskNeeds {
  readonly state: StateDatabase
  readonly clock: Clocks
  /** Once it is committed, with whose events were told. */
  readonly onNotified: (ownerIds: ReadonlySet<UserId>) => void
}

/** Notifies of events: with the changes that they follow from, and by itself. */
export interface Notifying {
  readonly notify: FanOut['notify']
  status(): NotifyingStatus
  /** Notifies of what waits, and of what is due, until the signal says to stop. */
  run(signal: AbortSignal, onFailure: (error: unknown) => void): Promise<unknown>
}

/** Answers the thread that delivers, from when it asks. */
export async function serveDeliveryDesk(needs: DeskNeeds, port: MessagePort): Promise<Notifying> {
  const { desk, fanOut, status } = await openDeliveryDesk(needs)
  const procedures: DeskProcedures = {
    exchange: (request: DeskRequest) => desk.exchange(request),
    dueReceivers: (channel: DeliveryChannel) => desk.dueReceivers(channel),
  }
  serveCalls(port, procedures)
  const { state, clock } = needs
  const { notify } = fanOut
  const coalesced = new CoalescedEvents({ state, clock, notify })
  return {
    notify,
    status,
    run: (signal, onFailure) =>
      Promise.all([fanOut.run(state, signal, onFailure), coalesced.run(signal, onFailure)]),
  }
}

/** Composition of what writes the state for deliveries: they are written with their events. */
export async function openDeliveryDesk({ state, clock, onNotified }: DeskNeeds) {
  const planned = { webhook: new Set<string>(), mail: new Set<string>() }
  const desk: StateDesk = new StateDesk({
    state,
    notify: (transaction) => fanOut.notify(transaction),
    recordDisabled: (transaction, receiver) => recordDisabled(transaction, receiver, clock),
  })
  // One process has the folder: whatever is leased was leased by one that is gone.
  await desk.takeBack(clock)
  const { fanOut, status }: OpenFanOut = await openFanOut(state, {
    clock,
    onPlanned(channel, ids) {
      for (const id of ids) planned[channel].add(id)
    },
    onNotified(ownerIds) {
      for (const channel of ['webhook', 'mail'] as const) {
        desk.announce(channel, planned[channel])
        planned[channel].clear()
      }
      onNotified(ownerIds)
    },
  })
  return { desk, fanOut, status }
}

async function recordDisabled(
  transaction: StateDatabase,
  receiver: DisabledReceiver,
  clock: Clocks,
): Promise<void> {
  const { id, ownerId } = receiver
  const changes = new Events(transaction, clock).record({
    ownerId,
    resourceId: id,
    ...(await noticeOf(transaction, receiver)),
  })
  for (const change of changes) await transaction.executeQuery(change.compile())
}

async function noticeOf(
  transaction: StateDatabase,
  { channel, id, consecutiveFailures }: DisabledReceiver,
): Promise<Pick<NewEvent, 'type' | 'resourceType' | 'data'>> {
  const failures = { consecutive_failures: consecutiveFailures }
  if (channel === 'mail') {
    const { email } = await transaction
      .selectFrom('email_recipients')
      .select('email')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const data = { id, email, ...failures }
    return { type: 'security.email_disabled', resourceType: 'email_recipient', data }
  }
  const { url } = await transaction
    .selectFrom('webhooks')
    .select('url')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const data = { id, url, ...failures }
  return { type: 'security.webhook_disabled', resourceType: 'webhook', data }
}
