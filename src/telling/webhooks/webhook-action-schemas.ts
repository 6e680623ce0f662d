import {
  boolean,
  component,
  count,
  dateTime,
  idParams,
  keyHeaders,
  listOf,
  nullable,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'

const tags = ['Webhooks'] as const
const params = idParams('configId')

const plannedDelivery = component(
  'PlannedDelivery',
  record({ delivery_id: uuid, event_id: uuid, event_type: text }),
)

export const testWebhook = {
  operationId: 'testWebhook',
  summary: 'Send a webhook an event that has not happened.',
  description:
    'One attempt, which is not counted as a failure; its data has `"test": true`. The outcome is among the deliveries.',
  tags,
  headers: keyHeaders,
  params,
  body: component(
    'WebhookTest',
    record(
      {
        event_type: {
          ...text,
          description: 'One that it is subscribed to; the first of them unless this is given.',
        },
      },
      { optional: ['event_type'], examples: [{}] },
    ),
  ),
  response: { 202: plannedDelivery },
} as const

export const resendDelivery = {
  operationId: 'resendDelivery',
  summary: 'Deliver once more what was delivered or was given up.',
  description:
    'Takes the id of a delivery or of one of its attempts. The same bytes are sent, with as many attempts as for a new delivery; failures are not counted.',
  tags,
  headers: keyHeaders,
  params: idParams('configId', 'deliveryId'),
  response: { 202: plannedDelivery },
} as const

export const recoverDeliveries = {
  operationId: 'recoverDeliveries',
  summary: 'Deliver what a webhook has missed since then.',
  description:
    'Events that it is subscribed to, that its filters let pass, and that were not delivered: also those from while it was paused or disabled. At most 5,000 events are looked at; ask again with `next_since` where that is not null.',
  tags,
  headers: keyHeaders,
  params,
  body: component('Recovery', record({ since: dateTime })),
  response: { 202: record({ recovered: count, next_since: nullable(dateTime) }) },
} as const

export const rotateWebhookSecret = {
  operationId: 'rotateWebhookSecret',
  summary: 'Replace the secret of a webhook, with a time of overlap.',
  description:
    'Until its end `X-Service-Signature` is made with the old secret, and `X-Service-Signature-Next` with the new one. A secret that is not given is made.',
  tags,
  headers: keyHeaders,
  params,
  body: component(
    'SecretRotation',
    record(
      {
        secret: { ...text, minLength: 1, maxLength: 256 },
        overlap_seconds: {
          type: 'integer',
          minimum: 0,
          maximum: 2_592_000,
          default: 86_400,
        },
      },
      { optional: ['secret', 'overlap_seconds'], examples: [{ overlap_seconds: 3_600 }] },
    ),
  ),
  response: { 200: record({ id: uuid, secret: text, previous_until: nullable(dateTime) }) },
} as const

export const checkDestination = {
  operationId: 'checkDestination',
  summary: 'See whether a URL may be registered, and where it leads to.',
  tags,
  headers: keyHeaders,
  body: component(
    'DestinationQuestion',
    record({
      url: {
        ...text,
        minLength: 1,
        maxLength: 2_048,
        examples: ['https://receiver.example.com/hook'],
      },
    }),
  ),
  response: {
    200: record({
      allowed: boolean,
      reason: nullable(text),
      addresses: listOf(text, {
        description: 'Private ones that a name resolves to are left out.',
      }),
    }),
  },
} as const

export const explainDelivery = {
  operationId: 'explainDelivery',
  summary: 'See why an event was delivered to a webhook, or was not.',
  tags,
  params,
  querystring: {
    ...record({ eventId: { ...uuid, examples: ['0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60'] } }),
    properties: { eventId: { ...uuid, examples: ['0190a5c1-7c3e-4d2b-9f60-3b1c2d4e5f60'] } },
  },
  response: {
    200: record({
      event_id: text,
      outcome: {
        ...text,
        enum: ['delivered', 'pending', 'failed', 'cancelled', 'not_sent', 'unknown_event'],
      },
      attempts: count,
      checks: listOf(record({ check: text, passed: boolean, message: text })),
    }),
  },
} as const
