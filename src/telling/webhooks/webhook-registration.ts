import type { FastifyRequest } from 'fastify'
import type { AuditLog } from '../../access/audit/audit-log.ts'
import type { Clocks } from '../../core/clock.ts'
import { changedMeanwhile, noRoom } from '../../core/conflict.ts'
import { parseId, type UserId, type WebhookId } from '../../core/ids.ts'
import { notFound } from '../../core/not-found.ts'
import type { EgressGuard } from '../../egress/egress-guard.ts'
import { actorOf, type CallerOf } from '../../requests/http/server.ts'
import type { Posts } from '../../requests/idempotency/posts.ts'
import type { Exchange } from '../../requests/operations/operation.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { type Webhook, type WebhookSettings, webhooksMax } from './webhook.ts'
import { WebhookAudit } from './webhook-audit.ts'
import { assertAllowed } from './webhook-destination.ts'
import type { WebhookStore } from './webhook-store.ts'

export interface WebhookRoutesNeeds {
  readonly state: StateDatabase
  readonly webhooks: WebhookStore
  readonly guard: EgressGuard
  readonly audit: AuditLog
  /** Has who delivers look at webhooks anew; what it knew of them is forgotten once it resolves. */
  readonly changed: (webhookIds: readonly string[]) => Promise<void>
  readonly nowUs: () => number
  readonly clock: Clocks
  readonly posts: Posts
  readonly callerOf: CallerOf
}

type Asked = Pick<Exchange, 'caller' | 'request'>

/**
 * What makes a webhook, in either interface.
 *
 * @throws DomainError `destination_not_allowed`, `conflict`
 */
export async function registration<Body extends object>(
  needs: WebhookRoutesNeeds,
  { caller, request }: Asked,
  {
    settings,
    bodyOf,
  }: { readonly settings: WebhookSettings; readonly bodyOf: (webhook: Webhook) => Body },
) {
  const { webhooks, guard, changed } = needs
  await assertAllowed(settings.url, guard)
  const { webhook, changes } = webhooks.plan(caller.userId, settings, caller.interface)
  return {
    statusCode: 201,
    body: bodyOf(webhook),
    changes: [...changes, auditOf(needs, request).created(webhook)],
    refusal: async () =>
      noRoom(`a user can have ${webhooksMax} webhooks at most`, 'DELETE /webhooks/{webhookId}'),
    afterwards: () => changed([webhook.id]),
  }
}

/**
 * Makes a webhook what a request wants it to be. Resolves with it as it is then.
 *
 * @throws DomainError `not_found`, `destination_not_allowed`, `conflict` when it was changed meanwhile
 */
export async function change(
  needs: WebhookRoutesNeeds,
  { caller, request }: Asked,
  { id, changedFrom }: { readonly id: string; readonly changedFrom: (before: Webhook) => Webhook },
): Promise<Webhook> {
  const { webhooks, guard, changed } = needs
  const before = await ownWebhook(webhooks, caller.userId, id)
  const after = changedFrom(before)
  // A webhook can be switched off wherever its address leads by now.
  if (after.url !== before.url || after.status === 'ACTIVE') await assertAllowed(after.url, guard)
  const isChanged = await webhooks.attempt(
    ...webhooks.change(before, after),
    ...auditOf(needs, request).changed(before, after),
  )
  await changed([before.id])
  const now = await ownWebhook(webhooks, before.ownerId, before.id)
  if (!isChanged) throw changedMeanwhile('the webhook', 'GET /webhooks/{webhookId}')
  return now
}

/** Deletes a webhook. @throws DomainError `not_found` */
export async function remove(
  needs: WebhookRoutesNeeds,
  { caller, request }: Asked,
  id: string,
): Promise<null> {
  const { webhooks, changed } = needs
  const webhook = await ownWebhook(webhooks, caller.userId, id)
  const entry = auditOf(needs, request).deleted(webhook)
  // Otherwise somebody else has deleted it meanwhile, which is what was asked for.
  await webhooks.attempt(...webhooks.remove(webhook), entry)
  await changed([webhook.id])
  return null
}

/** What writes down what a request does with webhooks. */
export function auditOf(
  { audit, callerOf }: Pick<WebhookRoutesNeeds, 'audit' | 'callerOf'>,
  request: FastifyRequest,
): WebhookAudit {
  return new WebhookAudit(audit, actorOf(request, callerOf))
}

/** @throws DomainError `not_found`, for the webhooks of others as well */
export async function ownWebhook(
  webhooks: WebhookStore,
  userId: UserId,
  text: string,
): Promise<Webhook> {
  const id = parseId<WebhookId>(text)
  const webhook = id && (await webhooks.find(userId, id))
  if (!webhook) throw notFound('webhook', text)
  return webhook
}
