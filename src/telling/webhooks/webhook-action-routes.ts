import { randomBytes } from 'node:crypto'
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { DomainError, invalidParameter } from '../../core/errors.ts'
import { formatUs, parseRfc3339 } from '../../core/time.ts'
import type { EventType } from '../../outbox/events/event-types.ts'
import type { Effect } from '../../requests/idempotency/posts.ts'
import { explain } from './explanation.ts'
import type { Webhook } from './webhook.ts'
import {
  checkDestination,
  explainDelivery,
  recoverDeliveries,
  resendDelivery,
  rotateWebhookSecret,
  testWebhook,
} from './webhook-action-schemas.ts'
import { findDelivery, planRecovery, planResend, planTest } from './webhook-actions.ts'
import { examineUrl } from './webhook-destination.ts'
import { auditOf, ownWebhook, secretPost, type WebhookRoutesNeeds } from './webhook-registration.ts'

interface OneWebhook {
  Params: { configId: string }
}

interface TestWebhook extends OneWebhook {
  Body: { event_type?: string }
}

interface ResendDelivery {
  Params: { configId: string; deliveryId: string }
}

interface RecoverDeliveries extends OneWebhook {
  Body: { since: string }
}

interface RotateSecret extends OneWebhook {
  Body: { secret?: string; overlap_seconds?: number }
}

interface ExplainDelivery extends OneWebhook {
  Querystring: { eventId: string }
}

interface CheckDestination {
  Body: { url: string }
}

/** Seconds that the secret before a rotation stays in use, unless somebody says otherwise. */
const overlapSDefault = 86_400

const secretBytes = 32

/** What can be done with webhooks beyond keeping them. */
export function webhookActionRoutes(needs: WebhookRoutesNeeds): FastifyPluginAsync {
  const { webhooks, guard, posts, callerOf } = needs
  const config = { scope: 'webhooks:write', errors: ['conflict'] } as const
  return async (app) => {
    const at = '/notifications/webhooks'
    app.post<TestWebhook>(`${at}/:configId/test`, { schema: testWebhook, config }, (...asked) =>
      act(needs, asked, async (webhook) => plannedTest(needs, webhook, asked[0].body.event_type)),
    )

    app.post<ResendDelivery>(
      `${at}/:configId/deliveries/:deliveryId/resend`,
      { schema: resendDelivery, config },
      (...asked) =>
        act(needs, asked, (webhook) => plannedResend(needs, webhook, asked[0].params.deliveryId)),
    )

    app.post<RecoverDeliveries>(
      `${at}/:configId/recover`,
      { schema: recoverDeliveries, config },
      (...asked) =>
        act(needs, asked, (webhook) => plannedRecovery(needs, webhook, asked[0].body.since)),
    )

    app.post<RotateSecret>(
      `${at}/:configId/rotate-secret`,
      { schema: rotateWebhookSecret, config },
      (...asked) => act(needs, asked, async (webhook) => rotation(needs, webhook, asked[0])),
    )

    app.post<CheckDestination>(
      `${at}/check`,
      { schema: checkDestination, config: { scope: 'webhooks:write' } },
      async (request, reply) => {
        const { userId } = callerOf(request)
        return await posts.answer({ request, reply, userId }, async () => {
          const body = await examineUrl(request.body.url, guard)
          return { statusCode: 200, body, changes: [] }
        })
      },
    )

    app.get<ExplainDelivery>(
      `${at}/:configId/deliveries/explain`,
      { schema: explainDelivery, config: { scope: 'webhooks:read' } },
      async (request) => {
        const { userId } = callerOf(request)
        const webhook = await ownWebhook(webhooks, userId, request.params.configId)
        return await explain(needs, webhook, request.query.eventId)
      },
    )
  }
}

/** Does something with a webhook of the caller, and has who delivers look at it. */
async function act(
  { webhooks, posts, changed, callerOf }: WebhookRoutesNeeds,
  [request, reply]: readonly [FastifyRequest<OneWebhook>, FastifyReply, ...unknown[]],
  plan: (webhook: Webhook) => Promise<Effect>,
): Promise<FastifyReply> {
  const caller = callerOf(request)
  return await posts.answer(secretPost({ request, reply }, caller), async () => {
    const webhook = await ownWebhook(webhooks, caller.userId, request.params.configId)
    return { ...(await plan(webhook)), afterwards: () => changed([webhook.id]) }
  })
}

/** @throws DomainError `conflict` */
function assertActive({ status }: Webhook): void {
  if (status === 'ACTIVE') return
  throw new DomainError('conflict', `the webhook is ${status}: nothing is sent to it`)
}

/** @throws DomainError `conflict`, or `invalid_request` for a type that it is not subscribed to */
function plannedTest(
  { state, clock }: WebhookRoutesNeeds,
  webhook: Webhook,
  wanted: string | undefined,
): Effect {
  assertActive(webhook)
  const type = wanted ?? webhook.eventTypes[0]
  if (type === undefined || !webhook.eventTypes.includes(type)) {
    throw invalidParameter('event_type', 'must be one that the webhook is subscribed to')
  }
  const { delivery, changes } = planTest(state, webhook, {
    type: type as EventType,
    atUs: clock.nowUs(),
    dueAtUs: clock.steadyUs(),
  })
  return { statusCode: 202, body: plannedBody(delivery), changes }
}

/** @throws DomainError `not_found`, `conflict` */
async function plannedResend(
  { state, clock }: WebhookRoutesNeeds,
  webhook: Webhook,
  deliveryId: string,
): Promise<Effect> {
  const delivery = await findDelivery(state, webhook.id, deliveryId.toLowerCase())
  if (!delivery) throw new DomainError('not_found', `no delivery ${deliveryId}`)
  assertActive(webhook)
  return {
    statusCode: 202,
    body: plannedBody(delivery),
    changes: [planResend(state, webhook, { id: delivery.id, dueAtUs: clock.steadyUs() })],
    refusal: async () =>
      new DomainError('conflict', 'it is being delivered now, or has had too many attempts'),
  }
}

function plannedBody(delivery: {
  readonly id: string
  readonly event_id: string
  readonly event_type: string
}): object {
  const { id, event_id, event_type } = delivery
  return { delivery_id: id, event_id, event_type }
}

/** @throws DomainError `conflict`, `invalid_request` */
async function plannedRecovery(
  { state, clock }: WebhookRoutesNeeds,
  webhook: Webhook,
  since: string,
): Promise<Effect> {
  assertActive(webhook)
  const sinceUs = parseRfc3339(since)
  if (typeof sinceUs !== 'number') throw invalidParameter('since', sinceUs.problem)
  const { changes, recovered, nextSinceUs } = await planRecovery(state, webhook, {
    sinceUs,
    clock,
  })
  const nextSince = nextSinceUs === undefined ? null : formatUs(nextSinceUs)
  return { statusCode: 202, body: { recovered, next_since: nextSince }, changes }
}

/** A new secret, and the old one for a while beside it. */
function rotation(
  needs: WebhookRoutesNeeds,
  webhook: Webhook,
  request: FastifyRequest<RotateSecret>,
): Effect {
  const { webhooks, nowUs } = needs
  const { body } = request
  const overlapS = body.overlap_seconds ?? overlapSDefault
  const secret = body.secret ?? randomBytes(secretBytes).toString('base64url')
  const untilUs = nowUs() + overlapS * 1_000_000
  const hasOverlap = webhook.secret !== null && untilUs > nowUs()
  const previousSecret = hasOverlap ? { secret: webhook.secret, untilUs } : undefined
  return {
    statusCode: 200,
    body: { id: webhook.id, secret, previous_until: hasOverlap ? formatUs(untilUs) : null },
    changes: [
      ...webhooks.change(webhook, { ...webhook, secret, previousSecret }),
      auditOf(needs, request).rotated(webhook, hasOverlap ? overlapS : 0),
    ],
    refusal: async () =>
      new DomainError('conflict', 'the webhook was changed meanwhile: try again'),
  }
}
