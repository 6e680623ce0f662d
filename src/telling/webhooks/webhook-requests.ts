import { formatUs } from '../../core/time.ts'
import { assertSendable, type CustomHeaders } from './custom-headers.ts'
import { warningsOf } from './subscribable.ts'
import type { Webhook, WebhookSettings, WebhookStatus } from './webhook.ts'

/** What `/notifications/webhooks` is sent, to make a webhook or to change one. */
export interface WebhookBody {
  readonly url?: string
  readonly event_types?: readonly string[]
  readonly description?: string | null
  readonly secret?: string | null
  readonly custom_headers?: CustomHeaders
  readonly resource_filters?: {
    readonly vault_ids?: readonly string[]
    readonly stream_ids?: readonly string[]
  }
  readonly status?: WebhookStatus
}

/**
 * Settings with what a body says in the place of what was there before.
 *
 * @throws DomainError `invalid_request` for headers that cannot be sent
 */
export function settingsWith<Settings extends WebhookSettings>(
  before: Settings,
  body: WebhookBody,
): Settings {
  const { url, event_types, description, secret, custom_headers, status } = body
  if (custom_headers) assertSendable(custom_headers, 'custom_headers')
  return {
    ...before,
    ...(url !== undefined && { url }),
    ...(event_types && { eventTypes: [...new Set(event_types)] }),
    ...(description !== undefined && { description }),
    // Whoever sets a secret wants it at once; a rotation is asked for otherwise.
    ...(secret !== undefined && { secret, previousSecret: undefined }),
    ...(custom_headers && { customHeaders: custom_headers }),
    ...(status && { status }),
    ...(body.resource_filters && { filters: withResourceFilters(before, body.resource_filters) }),
  }
}

function withResourceFilters(
  { filters }: WebhookSettings,
  { vault_ids = [], stream_ids = [] }: NonNullable<WebhookBody['resource_filters']>,
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
export function webhookBody(webhook: Webhook): object {
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
