import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AuthenticatedCaller } from '../auth/authenticate.ts'
import { DomainError } from '../core/errors.ts'
import { parseId, type UserId, type WebhookId } from '../core/ids.ts'
import type { EgressGuard } from '../egress/egress-guard.ts'
import type { CallerOf } from '../http/server.ts'
import type { Post, Posts } from '../idempotency/posts.ts'
import type { StateDatabase } from '../state/database.ts'
import { type Webhook, type WebhookSettings, webhooksMax } from './webhook.ts'
import { assertAllowed } from './webhook-destination.ts'
import type { WebhookStore } from './webhook-store.ts'

export interface WebhookRoutesNeeds {
  readonly state: StateDatabase
  readonly webhooks: WebhookStore
  readonly guard: EgressGuard
  /** Has who delivers look at webhooks anew; what it knew of them is forgotten once it resolves. */
  readonly changed: (webhookIds: readonly string[]) => Promise<void>
  readonly nowUs: () => number
  readonly posts: Posts
  readonly callerOf: CallerOf
}

interface Exchange {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** Makes a webhook, in either interface. @throws DomainError `destination_not_allowed`, `conflict` */
export async function register(
  { webhooks, guard, posts, callerOf }: WebhookRoutesNeeds,
  { request, reply }: Exchange,
  {
    settings,
    bodyOf,
  }: {
    readonly settings: () => WebhookSettings
    readonly bodyOf: (webhook: Webhook) => object
  },
): Promise<FastifyReply> {
  const caller = callerOf(request)
  return await posts.answer(secretPost({ request, reply }, caller), async () => {
    const wanted = settings()
    await assertAllowed(wanted.url, guard)
    const { webhook, changes } = webhooks.plan(caller.userId, wanted, caller.interface)
    return {
      statusCode: 201,
      body: bodyOf(webhook),
      changes,
      refusal: async () =>
        new DomainError('conflict', `a user can have ${webhooksMax} webhooks at most`),
    }
  })
}

/**
 * Makes a webhook what it is to be. Resolves with it as it is then.
 *
 * @throws DomainError `destination_not_allowed`, `conflict` when it was changed meanwhile
 */
export async function change(
  { webhooks, guard, changed }: Pick<WebhookRoutesNeeds, 'webhooks' | 'guard' | 'changed'>,
  before: Webhook,
  after: Webhook,
): Promise<Webhook> {
  // Whatever it leads to by now, it can be switched off.
  if (after.url !== before.url || after.status === 'ACTIVE') await assertAllowed(after.url, guard)
  const isChanged = await webhooks.attempt(...webhooks.change(before, after))
  await changed([before.id])
  const now = await ownWebhook(webhooks, before.ownerId, before.id)
  if (!isChanged) throw new DomainError('conflict', 'the webhook was changed meanwhile: try again')
  return now
}

/** @throws DomainError `not_found`, for the webhooks of others as well */
export async function ownWebhook(
  webhooks: WebhookStore,
  userId: UserId,
  text: string,
): Promise<Webhook> {
  const id = parseId<WebhookId>(text)
  const webhook = id && (await webhooks.find(userId, id))
  if (!webhook) throw new DomainError('not_found', `no webhook ${text}`)
  return webhook
}

/** A POST that shows a secret: to the key that asks only, and in no cache between us. */
export function secretPost(
  { request, reply }: Exchange,
  { userId, apiKeyId }: AuthenticatedCaller,
): Post {
  return { request, reply: reply.header('cache-control', 'no-store'), userId, apiKeyId }
}
