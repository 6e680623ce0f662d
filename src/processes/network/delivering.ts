import type { FastifyPluginAsync } from 'fastify'
import type { AuditLog } from '../../access/audit/audit-log.ts'
import type { Config } from '../../config/config.ts'
import { AgeClock } from '../../core/age-clock.ts'
import { systemClock } from '../../core/clock.ts'
import { startThread } from '../../core/threads/start-thread.ts'
import { AllowedDestinations } from '../../egress/allowed-destinations.ts'
import { EgressGuard } from '../../egress/egress-guard.ts'
import type { GuardedRoutes } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { Purge } from '../../storage/state/purge-timer.ts'
import type { DeliveryFigures } from '../../telling/delivery/delivery-procedures.ts'
import { purgeDeliveries } from '../../telling/delivery/purge-deliveries.ts'
import { ThreadedDeliveries } from '../../telling/delivery/threaded-deliveries.ts'
import { mailLinkRoutes } from '../../telling/mail/mail-link-routes.ts'
import { MailLinks, type Signer } from '../../telling/mail/mail-links.ts'
import { mailReach } from '../../telling/mail/mail-reach.ts'
import { recipientRoutes } from '../../telling/mail/recipient-routes.ts'
import { RecipientStore } from '../../telling/mail/recipient-store.ts'
import { forgetVerifications } from '../../telling/mail/verification.ts'
import type { PreferenceRoutesNeeds } from '../../telling/notifications/preferences/preference-routes.ts'
import { bearerWebhookRoutes } from '../../telling/webhooks/bearer-webhook-routes.ts'
import { webhookActionRoutes } from '../../telling/webhooks/webhook-action-routes.ts'
import { webhookReach } from '../../telling/webhooks/webhook-reach.ts'
import { webhookRoutes } from '../../telling/webhooks/webhook-routes.ts'
import type { Cipher } from '../../telling/webhooks/webhook-rows.ts'
import { WebhookStore } from '../../telling/webhooks/webhook-store.ts'
import type { DeliveryThreadData } from '../delivery/delivery-contract.ts'
import type { Engine } from './engine.ts'

export interface Delivering {
  /** Links of mails. */
  readonly openRoutes: readonly FastifyPluginAsync[]
  readonly routes: (posts: Posts) => readonly GuardedRoutes[]
  /** Undefined before there is anybody to deliver to. */
  readonly stats: () => Promise<DeliveryFigures | undefined>
  readonly purges: readonly Purge[]
  readonly reach: PreferenceRoutesNeeds['reach']
  /** Rejects when the thread that delivers ends by an error. */
  readonly failed: Promise<never>
  readonly stop: () => Promise<void>
}

/** Composition of what tells receivers of events, over HTTP and by mail: who they are here, deliveries in a thread. */
export async function openDelivering(
  engine: Engine,
  {
    config,
    cipher,
    audit,
  }: { readonly config: Config; readonly cipher: Cipher & Signer; readonly audit: AuditLog },
): Promise<Delivering> {
  const { state, worker } = engine
  const deliveries = deliveriesOf(engine, config)
  if (await hasReceivers(state)) deliveries.run()
  const needs = {
    state,
    webhooks: new WebhookStore({ state, writer: worker, cipher, clock: systemClock }),
    guard: new EgressGuard({ allowed: new AllowedDestinations(config.egressAllowed) }),
    audit,
    changed: (receiverIds: readonly string[]) =>
      deliveries.changed({ channel: 'webhook', receiverIds }),
    nowUs: () => systemClock.nowUs(),
    clock: systemClock,
  }
  const ages = new AgeClock(systemClock)
  const links = new MailLinks(cipher, config.publicUrl)
  const recipients = new RecipientStore({ state, writer: worker, clock: systemClock })
  const mail = {
    ...needs,
    recipients,
    links,
    changed: (receiverIds: readonly string[]) =>
      deliveries.changed({ channel: 'mail', receiverIds }),
  }
  return {
    openRoutes: [mailLinkRoutes(mail)],
    routes: (posts) => [
      (callerOf) => webhookRoutes({ ...needs, posts, callerOf }),
      (callerOf) => webhookActionRoutes({ ...needs, posts, callerOf }),
      (callerOf) => bearerWebhookRoutes({ ...needs, posts, callerOf }),
      (callerOf) => recipientRoutes({ ...mail, posts, callerOf }),
    ],
    stats: () => deliveries.stats(),
    purges: [
      () => purgeDeliveries({ state, writer: worker }, ages.nowUs() - config.deliveriesKeptUs),
      () => forgetVerifications({ state, writer: worker }, systemClock.steadyUs()),
    ],
    reach: {
      mail: (userId) => mailReach(state, config.smtp !== undefined, userId),
      webhooks: (userId, type) => webhookReach(needs, userId, type),
    },
    failed: deliveries.failed,
    stop: () => deliveries.stop(),
  }
}

/** Whether there is anybody to deliver to, or something left to be delivered. */
async function hasReceivers(state: StateDatabase): Promise<boolean> {
  const webhook = state.selectFrom('webhooks').select('id').limit(1)
  const recipient = state.selectFrom('email_recipients').select('id').limit(1)
  const found = await Promise.all([webhook.executeTakeFirst(), recipient.executeTakeFirst()])
  return found.some((one) => one !== undefined)
}

function deliveriesOf({ folder, ports: { deskPort } }: Engine, config: Config): ThreadedDeliveries {
  const data: DeliveryThreadData = {
    statePath: folder.state,
    dataDir: config.dataDir,
    masterKey: config.masterKey,
    egressAllowed: config.egressAllowed,
    resendEveryUs: config.resendEveryUs,
    publicUrl: config.publicUrl,
    smtp: config.smtp,
    mailFrom: config.mailFrom,
    desk: deskPort,
    log: config.log,
    tracing: config.tracing,
  }
  const options = { workerData: data, transferList: [deskPort] }
  return new ThreadedDeliveries(() =>
    startThread(import.meta.url, '../delivery/delivery-thread', options),
  )
}
