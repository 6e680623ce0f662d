import type { UserId, WebhookId } from '../../core/ids.ts'
import type { CustomHeaders } from './custom-headers.ts'
import type { WebhookFilters } from './webhook-filters.ts'

export const webhookStatuses = ['ACTIVE', 'PAUSED', 'DISABLED'] as const

export type WebhookStatus = (typeof webhookStatuses)[number]

/** Which webhooks of a list are asked for: those that meet all of it. */
export interface WebhookFilter {
  readonly status?: WebhookStatus
  /** Active ones whose last delivery has failed. */
  readonly failing?: boolean
}

/** All of what a registration says, in either interface. */
export interface WebhookSettings {
  readonly url: string
  /** Types of events, each once. */
  readonly eventTypes: readonly string[]
  readonly description: string | null
  /** What requests are signed with; null: they are not. */
  readonly secret: string | null
  readonly customHeaders: CustomHeaders
  readonly filters: WebhookFilters
  readonly status: WebhookStatus
  /** Time for the whole exchange of one attempt. */
  readonly timeoutMs: number
  /** Attempts after the first one. */
  readonly retryCount: number
  readonly retryDelayMs: number
}

/** A secret that was replaced, and is still signed with until then. */
export interface PreviousSecret {
  readonly secret: string
  readonly untilUs: number
}

/** A receiver of events over HTTP. */
export interface Webhook extends WebhookSettings {
  readonly id: WebhookId
  readonly ownerId: UserId
  readonly createdAtUs: number
  /** Counts its changes by users. */
  readonly version: number
  readonly previousSecret: PreviousSecret | undefined
  readonly consecutiveFailures: number
  readonly lastDeliveryAtUs: number | undefined
  readonly recordedAttempts: number
}

/** What holds unless a registration says otherwise (decisions.md#attempts-and-passes). */
export const defaultSettings = {
  description: null,
  secret: null,
  customHeaders: {},
  filters: {},
  status: 'ACTIVE',
  timeoutMs: 30_000,
  retryCount: 2,
  retryDelayMs: 2_000,
} as const satisfies Partial<WebhookSettings>

/** Webhooks of one user: each event of the user is looked at for all of them. */
export const webhooksMax = 1_000
