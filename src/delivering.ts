import type { AuditLog } from './audit/audit-log.ts'
import type { Config } from './config/config.ts'
import { systemClock } from './core/clock.ts'
import type { Backlog } from './delivery/backlog.ts'
import type { DeliveryStats } from './delivery/deliverer.ts'
import { purgeDeliveries } from './delivery/purge-deliveries.ts'
import { ThreadedDeliveries } from './delivery/threaded-deliveries.ts'
import type { DeliveryThreadData } from './delivery-thread.ts'
import { AllowedDestinations } from './egress/allowed-destinations.ts'
import { EgressGuard } from './egress/egress-guard.ts'
import type { Engine } from './engine.ts'
import type { GuardedRoutes } from './http/server.ts'
import type { Posts } from './idempotency/posts.ts'
import type { StateDatabase } from './state/database.ts'
import { startThread } from './threads/start-thread.ts'
import { bearerWebhookRoutes } from './webhooks/bearer-webhook-routes.ts'
import { webhookActionRoutes } from './webhooks/webhook-action-routes.ts'
import { webhookRoutes } from './webhooks/webhook-routes.ts'
import type { Cipher } from './webhooks/webhook-rows.ts'
import { WebhookStore } from './webhooks/webhook-store.ts'

export interface Delivering {
  readonly routes: (posts: Posts) => readonly GuardedRoutes[]
  /** Undefined before there is a webhook. */
  readonly stats: () => Promise<(DeliveryStats & Backlog) | undefined>
  /** Removes a portion of what is older than it is kept. Resolves with whether there is more. */
  readonly purge: () => Promise<boolean>
  /** Rejects when the thread that delivers ends by an error. */
  readonly failed: Promise<never>
  readonly stop: () => Promise<void>
}

/** Composition of what tells receivers of events over HTTP: registrations here, deliveries in a thread. */
export async function openDelivering(
  engine: Engine,
  {
    config,
    cipher,
    audit,
  }: { readonly config: Config; readonly cipher: Cipher; readonly audit: AuditLog },
): Promise<Delivering> {
  const { state, worker } = engine
  const deliveries = deliveriesOf(engine, config)
  if (await hasReceivers(state)) deliveries.run()
  const needs = {
    state,
    webhooks: new WebhookStore({ state, writer: worker, cipher, clock: systemClock }),
    guard: new EgressGuard({ allowed: new AllowedDestinations(config.egressAllowed) }),
    audit,
    changed: (ids: readonly string[]) => deliveries.changed(ids),
    nowUs: () => systemClock.nowUs(),
  }
  return {
    routes: (posts) => [
      (callerOf) => webhookRoutes({ ...needs, posts, callerOf }),
      (callerOf) => webhookActionRoutes({ ...needs, posts, callerOf }),
      (callerOf) => bearerWebhookRoutes({ ...needs, posts, callerOf }),
    ],
    stats: () => deliveries.stats(),
    purge: () =>
      purgeDeliveries({ state, writer: worker }, systemClock.nowUs() - config.deliveriesKeptUs),
    failed: deliveries.failed,
    stop: () => deliveries.stop(),
  }
}

/** Whether there is anybody to deliver to, or something left to be delivered. */
async function hasReceivers(state: StateDatabase): Promise<boolean> {
  return (await state.selectFrom('webhooks').select('id').limit(1).executeTakeFirst()) !== undefined
}

function deliveriesOf({ folder, deskPort }: Engine, config: Config): ThreadedDeliveries {
  const data: DeliveryThreadData = {
    statePath: folder.state,
    dataDir: config.dataDir,
    masterKey: config.masterKey,
    egressAllowed: config.egressAllowed,
    resendEveryUs: config.resendEveryUs,
    desk: deskPort,
    logLevel: config.logLevel,
  }
  const options = { workerData: data, transferList: [deskPort] }
  return new ThreadedDeliveries(() => startThread(import.meta.url, './delivery-thread', options))
}
