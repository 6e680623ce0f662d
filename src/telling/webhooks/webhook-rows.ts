import type { Selectable } from 'kysely'
import type { UserId, WebhookId } from '../../core/ids.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import type { CustomHeaders } from './custom-headers.ts'
import type { PreviousSecret, Webhook, WebhookSettings, WebhookStatus } from './webhook.ts'
import type { WebhookFilters } from './webhook-filters.ts'

/** Encryption at rest. */
export interface Cipher {
  encrypt(text: string): Uint8Array
  decrypt(bytes: Uint8Array): string
}

/** All that is secret of a webhook, as it is encrypted. */
interface Secrets {
  readonly secret: string | null
  readonly previous?: PreviousSecret
  readonly headers: CustomHeaders
}

/** The columns that settings are written to. */
export function settingsColumns(
  settings: WebhookSettings & Pick<Webhook, 'previousSecret'>,
  cipher: Cipher,
) {
  const { secret, previousSecret, customHeaders } = settings
  const secrets: Secrets = {
    secret,
    headers: customHeaders,
    ...(previousSecret && { previous: previousSecret }),
  }
  return {
    url: settings.url,
    event_types: JSON.stringify(settings.eventTypes),
    description: settings.description,
    secrets_encrypted: cipher.encrypt(JSON.stringify(secrets)),
    filters: JSON.stringify(settings.filters),
    status: settings.status,
    timeout_ms: settings.timeoutMs,
    retry_count: settings.retryCount,
    retry_delay_ms: settings.retryDelayMs,
  }
}

export function webhookOf(row: Selectable<StateSchema['webhooks']>, cipher: Cipher): Webhook {
  const { secret, previous, headers } = JSON.parse(cipher.decrypt(row.secrets_encrypted)) as Secrets
  return {
    id: row.id as WebhookId,
    ownerId: row.owner_id as UserId,
    createdAtUs: row.created_at,
    version: row.version,
    url: row.url,
    eventTypes: JSON.parse(row.event_types) as readonly string[],
    description: row.description,
    secret,
    previousSecret: previous,
    customHeaders: headers,
    filters: JSON.parse(row.filters) as WebhookFilters,
    status: row.status as WebhookStatus,
    timeoutMs: row.timeout_ms,
    retryCount: row.retry_count,
    retryDelayMs: row.retry_delay_ms,
    consecutiveFailures: row.consecutive_failures,
    lastDeliveryAtUs: row.last_delivery_at ?? undefined,
    recordedAttempts: row.recorded_attempts,
  }
}
