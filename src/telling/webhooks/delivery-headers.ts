import type { CustomHeaders } from './custom-headers.ts'
import { signatureOf } from './signature.ts'
import type { Webhook } from './webhook.ts'

/** Mark that stands in records wherever a value may be secret. */
const secretMark = '********'

export interface SentDelivery {
  readonly deliveryId: string
  readonly eventId: string
  readonly eventType: string
  readonly format: 'emitted' | 'forthcoming'
  /** The exact bytes, as text. */
  readonly body: string
  readonly nowUs: number
  /** Headers of the trace that it is in. */
  readonly trace?: Readonly<Record<string, string>> | undefined
}

/** The headers of a request, and the same as they are written down. */
export interface DeliveryHeaders {
  readonly sent: Readonly<Record<string, string>>
  readonly recorded: Readonly<Record<string, string>>
}

/**
 * The headers of a delivery in its format; those of the webhook win over them
 * (decisions.md#signatures-and-headers).
 */
export function deliveryHeaders(
  webhook: Pick<Webhook, 'customHeaders' | 'secret' | 'previousSecret'>,
  delivery: SentDelivery,
): DeliveryHeaders {
  const standard = {
    'Content-Type': 'application/json',
    'User-Agent': 'Service-Webhook/1.0',
    ...(delivery.format === 'emitted'
      ? { 'X-Service-Event': delivery.eventType }
      : {
          'X-Service-Event-Type': delivery.eventType,
          'X-Service-Event-ID': delivery.eventId,
          'X-Service-Delivery-ID': delivery.deliveryId,
        }),
    ...signatures(webhook, delivery),
    ...delivery.trace,
  }
  const custom = webhook.customHeaders
  const masked = Object.fromEntries(Object.keys(custom).map((name) => [name, secretMark]))
  return { sent: merged(standard, custom), recorded: merged(standard, masked) }
}

/**
 * Signs requests with both secrets while one is being replaced: who has not changed yet goes on to
 * find its signature where it was, and the new one comes beside it.
 */
function signatures(
  { secret, previousSecret }: Pick<Webhook, 'secret' | 'previousSecret'>,
  { body, format, nowUs }: SentDelivery,
): Readonly<Record<string, string>> {
  if (secret === null) return {}
  const signed = (key: string) => (format === 'emitted' ? 'sha256=' : '') + signatureOf(body, key)
  if (previousSecret === undefined || previousSecret.untilUs <= nowUs) {
    return { 'X-Service-Signature': signed(secret) }
  }
  return {
    'X-Service-Signature': signed(previousSecret.secret),
    'X-Service-Signature-Next': signed(secret),
  }
}

/** Names are the same in any case, and each is sent once. */
function merged(standard: CustomHeaders, custom: CustomHeaders): Readonly<Record<string, string>> {
  const taken = new Set(Object.keys(custom).map((name) => name.toLowerCase()))
  const kept = Object.entries(standard).filter(([name]) => !taken.has(name.toLowerCase()))
  return { ...Object.fromEntries(kept), ...custom }
}
