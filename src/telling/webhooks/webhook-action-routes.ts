import { randomBytes } from 'node:crypto'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import type { Static } from 'typebox'
import { changedMeanwhile, conflict } from '../../core/conflict.ts'
import { invalidParameter } from '../../core/errors.ts'
import { notFound } from '../../core/not-found.ts'
import { comparableUs, formatUs } from '../../core/time.ts'
import type { EventType } from '../../outbox/events/event-types.ts'
import { askedInstant } from '../../requests/http/asked-range.ts'
import type { Effect } from '../../requests/idempotency/posts.ts'
import {
  type AddOperation,
  type Exchange,
  operationsOf,
} from '../../requests/operations/operation.ts'
import { explain } from './explanation.ts'
import type { Webhook } from './webhook.ts'
import * as api from './webhook-action-api.ts'
import { findDelivery, planRecovery, planResend, planTest } from './webhook-actions.ts'
import { examineUrl } from './webhook-destination.ts'
import { auditOf, ownWebhook, type WebhookRoutesNeeds } from './webhook-registration.ts'

const secretBytes = 32

/** What can be done with webhooks beyond keeping them. */
export function webhookActionRoutes(needs: WebhookRoutesNeeds): FastifyPluginAsync {
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Webhooks'] })
    addDelivering(add, needs)
    addRotating(add, needs)
    addExplaining(add, needs)
  }
}

/** Actions of one webhook are answered again to the key that has asked, and to no other of its user. */
const acting = { scope: 'webhooks:write', errors: ['conflict'], answersSecret: true } as const

function addDelivering(add: AddOperation, needs: WebhookRoutesNeeds): void {
  add('POST /notifications/webhooks/:configId/test', {
    operationId: 'testWebhook',
    summary: 'Send a webhook an event that has not happened.',
    description:
      'One attempt, which is not counted as a failure; its data has `"test": true`. The outcome is among the deliveries.',
    ...acting,
    body: api.webhookTestSchema,
    answers: { 202: api.plannedDeliverySchema },
    effect: (exchange) =>
      action(needs, exchange, async (webhook) =>
        plannedTest(needs, webhook, exchange.body.event_type),
      ),
  })

  add('POST /notifications/webhooks/:configId/deliveries/:deliveryId/resend', {
    operationId: 'resendDelivery',
    summary: 'Deliver once more what was delivered or was given up.',
    description:
      'Takes the id of a delivery or of one of its attempts. The same bytes are sent, with as many attempts as for a new delivery; failures are not counted.',
    ...acting,
    answers: { 202: api.plannedDeliverySchema },
    effect: (exchange) =>
      action(needs, exchange, (webhook) =>
        plannedResend(needs, webhook, exchange.params.deliveryId),
      ),
  })

  add('POST /notifications/webhooks/:configId/recover', {
    operationId: 'recoverDeliveries',
    summary: 'Deliver what a webhook has missed since then.',
    description:
      'Events that it is subscribed to, that its filters let pass, and that were not delivered: also those from while it was paused or disabled. At most 5,000 events are looked at; ask again with `next_since` where that is not null.',
    ...acting,
    body: api.recoverySchema,
    answers: { 202: api.recoveredSchema },
    effect: (exchange) =>
      action(needs, exchange, (webhook) => plannedRecovery(needs, webhook, exchange.body.since)),
  })
}

function addRotating(add: AddOperation, needs: WebhookRoutesNeeds): void {
  add('POST /notifications/webhooks/:configId/rotate-secret', {
    operationId: 'rotateWebhookSecret',
    summary: 'Replace the secret of a webhook, with a time of overlap.',
    description:
      'Until its end `X-Service-Signature` is made with the old secret, and `X-Service-Signature-Next` with the new one. A secret that is not given is made.',
    ...acting,
    body: api.secretRotationSchema,
    answers: { 200: api.rotatedSchema },
    effect: (exchange) =>
      action(needs, exchange, async (webhook) => rotation(needs, webhook, exchange)),
  })
}

function addExplaining(add: AddOperation, needs: WebhookRoutesNeeds): void {
  const { webhooks, guard } = needs

  add('POST /notifications/webhooks/check', {
    operationId: 'checkDestination',
    summary: 'See whether a URL may be registered, and where it leads to.',
    scope: 'webhooks:write',
    body: api.destinationQuestionSchema,
    answers: { 200: api.destinationSchema },
    effect: async ({ body: { url } }) => ({
      statusCode: 200,
      body: await examineUrl(url, guard),
      changes: [],
    }),
  })

  add('GET /notifications/webhooks/:configId/deliveries/explain', {
    operationId: 'explainDelivery',
    summary: 'See why an event was delivered to a webhook, or was not.',
    scope: 'webhooks:read',
    query: api.explanationQuery,
    answers: { 200: api.explanationSchema },
    handler: async ({ caller, params, query }) => {
      const webhook = await ownWebhook(webhooks, caller.userId, params.configId)
      return await explain(needs, webhook, query.eventId)
    },
  })
}

/** What is done with a webhook of the caller: who delivers looks at it afterwards. */
async function action<Planned extends Effect>(
  { webhooks, changed }: WebhookRoutesNeeds,
  { caller, params }: Pick<Exchange<'/:configId'>, 'caller' | 'params'>,
  plan: (webhook: Webhook) => Promise<Planned>,
) {
  const webhook = await ownWebhook(webhooks, caller.userId, params.configId)
  return { ...(await plan(webhook)), afterwards: () => changed([webhook.id]) }
}

/** @throws DomainError `conflict` */
function assertActive({ status }: Webhook): void {
  if (status === 'ACTIVE') return
  throw conflict(
    `the webhook is ${status}: nothing is sent to it`,
    'Set status to ACTIVE with PUT /notifications/webhooks/{configId}, then try again.',
  )
}

/** @throws DomainError `conflict`, or `invalid_request` for a type that it is not subscribed to */
function plannedTest(
  { state, clock }: WebhookRoutesNeeds,
  webhook: Webhook,
  wanted: string | undefined,
) {
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
) {
  const delivery = await findDelivery(state, webhook.id, deliveryId.toLowerCase())
  if (!delivery) throw notFound('delivery', deliveryId)
  assertActive(webhook)
  return {
    statusCode: 202,
    body: plannedBody(delivery),
    changes: [planResend(state, webhook, { id: delivery.id, dueAtUs: clock.steadyUs() })],
    refusal: async () =>
      conflict(
        'it is being delivered now, or has had too many attempts',
        'Read GET /notifications/webhooks/{configId}/deliveries: a delivery under way ends by itself, and one that had all of its 255 attempts is not sent again.',
      ),
  }
}

function plannedBody(delivery: {
  readonly id: string
  readonly event_id: string
  readonly event_type: string
}): Static<typeof api.plannedDeliverySchema> {
  const { id, event_id, event_type } = delivery
  return { delivery_id: id, event_id, event_type }
}

/** @throws DomainError `conflict`, `invalid_request` */
async function plannedRecovery(
  { state, clock }: WebhookRoutesNeeds,
  webhook: Webhook,
  since: string | number,
) {
  assertActive(webhook)
  const sinceUs = comparableUs(askedInstant('since', since, clock.nowUs()))
  const { changes, recovered, nextSinceUs } = await planRecovery(state, webhook, {
    sinceUs,
    clock,
  })
  const nextSince = nextSinceUs === undefined ? null : formatUs(nextSinceUs)
  return { statusCode: 202, body: { recovered, next_since: nextSince }, changes }
}

interface Rotation {
  readonly body: Static<typeof api.secretRotationSchema>
  readonly request: FastifyRequest
}

/** A new secret, and the old one for a while beside it. */
function rotation(needs: WebhookRoutesNeeds, webhook: Webhook, { body, request }: Rotation) {
  const { webhooks, nowUs } = needs
  const overlapS = body.overlap_seconds ?? api.overlapSDefault
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
    refusal: async () => changedMeanwhile('the webhook', 'GET /notifications/webhooks/{configId}'),
  }
}
