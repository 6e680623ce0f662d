import { formatUs } from '../../core/time.ts'
import { assertSendable, type CustomHeaders } from './custom-headers.ts'
import { warningsOf } from './subscribable.ts'
import type { Webhook, WebhookSettings } from './webhook.ts'
import { folded } from './webhook-requests.ts'

/** What `/webhooks` is sent, to make a webhook or to change one. */
export interface BearerWebhookBody {
  readonly url?: string
  readonly events?: readonly string[]
  readonly secret?: string | null
  readonly active?: boolean
  readonly filters?: {
    readonly vaultIds?: readonly string[]
    readonly templateIds?: readonly string[]
    readonly userIds?: readonly string[]
    readonly severities?: readonly string[]
  }
  /** Seconds. */
  readonly timeout?: number
  readonly retryCount?: number
  /** Seconds. */
  readonly retryDelay?: number
  readonly headers?: CustomHeaders
}

/**
 * Settings with what a body says in the place of what was there before.
 *
 * @throws DomainError `invalid_request` for headers that cannot be sent
 */
export function bearerSettingsWith<Settings extends WebhookSettings>(
  before: Settings,
  body: BearerWebhookBody,
): Settings {
  const { url, events, secret, filters, timeout, retryCount, retryDelay, headers } = body
  if (headers) assertSendable(headers, 'headers')
  return {
    ...before,
    ...(url !== undefined && { url }),
    ...(events && { eventTypes: [...new Set(events)] }),
    // Whoever sets a secret wants it at once; a rotation is asked for otherwise.
    ...(secret !== undefined && { secret, previousSecret: undefined }),
    ...(timeout !== undefined && { timeoutMs: timeout * 1_000 }),
    ...(retryCount !== undefined && { retryCount }),
    ...(retryDelay !== undefined && { retryDelayMs: retryDelay * 1_000 }),
    ...(headers && { customHeaders: headers }),
    ...(filters && { filters: withFilters(before, filters) }),
    status: statusWith(before, body),
  }
}

/** One that was disabled is not active: whoever says so again leaves it as it is. */
function statusWith(
  { status }: WebhookSettings,
  { active }: BearerWebhookBody,
): WebhookSettings['status'] {
  if (active === undefined || (!active && status === 'DISABLED')) return status
  return active ? 'ACTIVE' : 'PAUSED'
}

function withFilters(
  { filters }: WebhookSettings,
  wanted: NonNullable<BearerWebhookBody['filters']>,
): WebhookSettings['filters'] {
  const { vaultIds: _, templateIds: __, userIds: ___, severities: ____, ...rest } = filters
  const given = Object.entries(wanted).filter(([, ids]) => ids.length > 0)
  return { ...rest, ...Object.fromEntries(given.map(([name, ids]) => [name, folded(ids)])) }
}

/** A webhook as `/webhooks` shows it. */
export function bearerWebhookBody(webhook: Webhook): object {
  const { vaultIds = [], templateIds = [], userIds = [], severities = [] } = webhook.filters
  return {
    webhookId: webhook.id,
    url: webhook.url,
    events: webhook.eventTypes,
    secret: webhook.secret,
    active: webhook.status === 'ACTIVE',
    filters: { vaultIds, templateIds, userIds, severities },
    timeout: webhook.timeoutMs / 1_000,
    retryCount: webhook.retryCount,
    retryDelay: webhook.retryDelayMs / 1_000,
    headers: webhook.customHeaders,
    createdAt: formatUs(webhook.createdAtUs),
    warnings: warningsOf(webhook.eventTypes),
  }
}
