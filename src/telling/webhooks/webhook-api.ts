import type { Static } from 'typebox'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'
import { attemptFields } from '../delivery/attempt-schema.ts'
import { assertSendable, type CustomHeaders, customHeadersMax } from './custom-headers.ts'
import { notificationTypes, warningsOf } from './subscribable.ts'
import { type Webhook, type WebhookSettings, webhookStatuses } from './webhook.ts'

export const urlSchema = {
  ...s.text,
  minLength: 1,
  maxLength: 2_048,
  description: 'http or https, port 80 or 443, and no private address.',
}

export const secretSchema = {
  ...s.nullable({ ...s.text, minLength: 1, maxLength: 256 }),
  description: 'What requests are signed with; null: they are not.',
  examples: ['a-secret-of-your-own'],
}

export const headersSchema = s.typed<CustomHeaders>({
  type: 'object',
  maxProperties: customHeadersMax.count,
  additionalProperties: { ...s.text, maxLength: customHeadersMax.valueLength },
  examples: [{ 'X-Tenant': 'plant 7' }],
})

export const shownHeadersSchema = s.typed<CustomHeaders>({
  type: 'object',
  additionalProperties: s.text,
})

/** Ids that a filter names. */
export const filteredIds = s.listOf(s.uuid, { maxItems: 1_000 })

const statusSchema = s.choice(webhookStatuses)

/** Parameters of lists of webhooks, in either interface. */
export const filterParameters = {
  status: { ...statusSchema, description: 'Only webhooks with this status.' },
  failing: {
    ...s.boolean,
    default: false,
    description: 'Only active webhooks whose last delivery has failed.',
  },
}

const fields = {
  url: { ...urlSchema, examples: ['https://receiver.example.com/hook'] },
  event_types: s.listOf(s.choice(notificationTypes), {
    minItems: 1,
    maxItems: 100,
    examples: [['vault.created']],
  }),
  description: s.nullable({ ...s.text, maxLength: 1_000 }),
  secret: secretSchema,
  custom_headers: headersSchema,
  resource_filters: s.partial({ vault_ids: filteredIds, stream_ids: filteredIds }),
  status: statusSchema,
}

export const newWebhookSchema = s.component(
  'NewWebhook',
  s.record(fields, {
    optional: ['description', 'secret', 'custom_headers', 'resource_filters', 'status'],
    examples: [{ url: 'https://receiver.example.com/hook', event_types: ['vault.created'] }],
  }),
)

export const webhookChangeSchema = s.component(
  'WebhookChange',
  s.partial(fields, { examples: [{ status: 'ACTIVE' }] }),
)

export const webhookSchema = s.component(
  'Webhook',
  s.record({
    id: s.uuid,
    created_at: s.dateTime,
    url: s.text,
    event_types: s.listOf(s.text),
    description: s.nullable(s.text),
    secret: s.nullable(s.text),
    custom_headers: shownHeadersSchema,
    resource_filters: s.record({ vault_ids: s.listOf(s.uuid), stream_ids: s.listOf(s.uuid) }),
    status: statusSchema,
    consecutive_failures: s.count,
    last_delivery_at: {
      ...s.nullable(s.dateTime),
      description: 'When it last answered an attempt with 2xx.',
    },
    warnings: s.listOf(s.text, { description: 'What to know about the types that were named.' }),
  }),
)

export const attemptSchema = s.component(
  'DeliveryAttempt',
  s.record({
    ...attemptFields,
    status_code: { ...attemptFields.status_code, description: 'None without an answer.' },
    request_headers: {
      ...shownHeadersSchema,
      description: 'The values of custom headers are not shown.',
    },
    response_excerpt: { ...s.text, description: 'The first 1,024 bytes of the answer.' },
  }),
)

type WebhookChange = Static<typeof webhookChangeSchema>

/**
 * Settings with what a body says in the place of what was there before.
 *
 * @throws DomainError `invalid_request` for headers that cannot be sent
 */
export function settingsWith<Settings extends WebhookSettings>(
  before: Settings,
  body: WebhookChange,
): Settings {
  const { url, event_types, description, secret, custom_headers, status } = body
  if (custom_headers) assertSendable(custom_headers, 'custom_headers')
  return {
    ...before,
    ...(url !== undefined && { url }),
    ...(event_types && { eventTypes: [...new Set(event_types)] }),
    ...(description !== undefined && { description }),
    // A secret that is set is wanted at once; a rotation is asked for otherwise.
    ...(secret !== undefined && { secret, previousSecret: undefined }),
    ...(custom_headers && { customHeaders: custom_headers }),
    ...(status && { status }),
    ...(body.resource_filters && { filters: withResourceFilters(before, body.resource_filters) }),
  }
}

function withResourceFilters(
  { filters }: WebhookSettings,
  { vault_ids = [], stream_ids = [] }: NonNullable<WebhookChange['resource_filters']>,
): WebhookSettings['filters'] {
  const { resourceVaultIds: _, resourceStreamIds: __, ...rest } = filters
  return {
    ...rest,
    ...(vault_ids.length > 0 && { resourceVaultIds: folded(vault_ids) }),
    ...(stream_ids.length > 0 && { resourceStreamIds: folded(stream_ids) }),
  }
}

/** Ids are the same in any case. */
export function folded(ids: readonly string[]): readonly string[] {
  return [...new Set(ids.map((id) => id.toLowerCase()))]
}

/** A webhook as `/notifications/webhooks` shows it. */
export function webhookBody(webhook: Webhook): Static<typeof webhookSchema> {
  const { filters, lastDeliveryAtUs } = webhook
  return {
    id: webhook.id,
    created_at: formatUs(webhook.createdAtUs),
    url: webhook.url,
    event_types: webhook.eventTypes,
    description: webhook.description,
    secret: webhook.secret,
    custom_headers: webhook.customHeaders,
    resource_filters: {
      vault_ids: filters.resourceVaultIds ?? [],
      stream_ids: filters.resourceStreamIds ?? [],
    },
    status: webhook.status,
    consecutive_failures: webhook.consecutiveFailures,
    last_delivery_at: lastDeliveryAtUs === undefined ? null : formatUs(lastDeliveryAtUs),
    warnings: warningsOf(webhook.eventTypes),
  }
}
