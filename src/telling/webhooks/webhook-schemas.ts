import {
  component,
  count,
  dateTime,
  idParams,
  type JsonSchema,
  keyHeaders,
  listOf,
  noContent,
  nullable,
  pageOf,
  pageQuery,
  partial,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { attemptFields } from '../delivery/attempt-schema.ts'
import { customHeadersMax } from './custom-headers.ts'
import { notificationTypes } from './subscribable.ts'
import { webhookStatuses } from './webhook.ts'

const url = {
  ...text,
  minLength: 1,
  maxLength: 2_048,
  description: 'http or https, port 80 or 443, and no private address.',
  examples: ['https://receiver.example.com/hook'],
} as const

export const secretSchema = {
  ...nullable({ ...text, minLength: 1, maxLength: 256 }),
  description: 'What requests are signed with; null: they are not.',
  examples: ['a-secret-of-your-own'],
} as const

export const headersSchema: JsonSchema = {
  type: 'object',
  maxProperties: customHeadersMax.count,
  additionalProperties: { ...text, maxLength: customHeadersMax.valueLength },
  examples: [{ 'X-Tenant': 'plant 7' }],
}

/** Ids that a filter names. */
export const filteredIds = listOf(uuid, { maxItems: 1_000 })

const fields = {
  url,
  event_types: listOf(
    { ...text, enum: notificationTypes },
    { minItems: 1, maxItems: 100, examples: [['vault.created']] },
  ),
  description: nullable({ ...text, maxLength: 1_000 }),
  secret: secretSchema,
  custom_headers: headersSchema,
  resource_filters: record(
    { vault_ids: filteredIds, stream_ids: filteredIds },
    { optional: ['vault_ids', 'stream_ids'] },
  ),
  status: { ...text, enum: webhookStatuses },
} as const

const warnings = listOf(text, { description: 'What to know about the types that were named.' })

const webhook = component(
  'Webhook',
  record({
    id: uuid,
    created_at: dateTime,
    url: text,
    event_types: listOf(text),
    description: nullable(text),
    secret: nullable(text),
    custom_headers: { type: 'object', additionalProperties: text },
    resource_filters: record({ vault_ids: listOf(uuid), stream_ids: listOf(uuid) }),
    status: { ...text, enum: webhookStatuses },
    consecutive_failures: count,
    last_delivery_at: {
      ...nullable(dateTime),
      description: 'When it last answered an attempt with 2xx.',
    },
    warnings,
  }),
)

const attempt = component(
  'DeliveryAttempt',
  record({
    ...attemptFields,
    status_code: { ...attemptFields.status_code, description: 'None without an answer.' },
    request_headers: {
      type: 'object',
      additionalProperties: text,
      description: 'The values of custom headers are not shown.',
    },
    response_excerpt: { ...text, description: 'The first 1,024 bytes of the answer.' },
  }),
)

const tags = ['Webhooks'] as const
const params = idParams('configId')

export const createWebhook = {
  operationId: 'createWebhook',
  summary: 'Register an endpoint that is told of events.',
  tags,
  headers: keyHeaders,
  body: component(
    'NewWebhook',
    record(fields, {
      optional: ['description', 'secret', 'custom_headers', 'resource_filters', 'status'],
      examples: [{ url: 'https://receiver.example.com/hook', event_types: ['vault.created'] }],
    }),
  ),
  response: { 201: webhook },
} as const

export const listWebhooks = {
  operationId: 'listWebhooks',
  summary: "List one's own webhooks, with their secrets.",
  tags,
  querystring: query(pageQuery),
  response: { 200: pageOf(webhook) },
} as const

export const readWebhook = {
  operationId: 'readWebhook',
  summary: 'Read a webhook, with its secret.',
  tags,
  params,
  response: { 200: webhook },
} as const

export const changeWebhook = {
  operationId: 'changeWebhook',
  summary: 'Change a webhook.',
  description:
    'What is not sent keeps its value. ACTIVE begins anew with no failures; with any other status nothing that waits is sent any more.',
  tags,
  params,
  body: component('WebhookChange', partial(fields, { examples: [{ status: 'ACTIVE' }] })),
  response: { 200: webhook },
} as const

export const deleteWebhook = {
  operationId: 'deleteWebhook',
  summary: 'Delete a webhook; nothing is sent to it any more.',
  tags,
  params,
  response: { 204: noContent },
} as const

export const listDeliveries = {
  operationId: 'listDeliveries',
  summary: 'List the attempts to deliver to a webhook, newest first.',
  tags,
  params,
  querystring: query(pageQuery),
  response: { 200: pageOf(attempt) },
} as const
