import type { Defaulted } from './column.ts'

/** Who is told of events over HTTP, and what became of it there and by mail: see `src/telling`. */
export interface WebhookTables {
  webhooks: WebhookTable
  webhook_subscriptions: WebhookSubscriptionTable
  deliveries: DeliveryTable
  delivery_attempts: DeliveryAttemptTable
}

interface WebhookTable {
  readonly id: string
  readonly owner_id: string
  /** Counts its changes by users. */
  readonly version: Defaulted<number>
  /** By which it was made: `header-key` or `bearer`. */
  readonly interface: string
  readonly created_at: number
  readonly url: string
  /** JSON array. */
  readonly event_types: string
  readonly description: string | null
  /** All that is secret of it: JSON, encrypted with the master key. */
  readonly secrets_encrypted: Uint8Array
  /** JSON object: which resources it is about. */
  readonly filters: string
  /** ACTIVE, PAUSED or DISABLED. */
  readonly status: string
  readonly consecutive_failures: Defaulted<number>
  /** The end of the newest attempt that was answered well. */
  readonly last_delivery_at: number | null
  /** Rows that it has in `delivery_attempts`. */
  readonly recorded_attempts: Defaulted<number>
  readonly timeout_ms: number
  /** Attempts after the first one. */
  readonly retry_count: number
  /** Before the second attempt; twice as much before each further one. */
  readonly retry_delay_ms: number
}

/** The event types of the webhooks that are ACTIVE: who is to be told of an event. */
interface WebhookSubscriptionTable {
  readonly owner_id: string
  readonly event_type: string
  readonly webhook_id: string
}

/** One event that one receiver is told of. */
interface DeliveryTable {
  readonly id: string
  readonly event_id: string
  /** `webhook` or `mail`: what its receiver is. */
  readonly channel: Defaulted<string>
  /** The id of a webhook, or of a recipient of mail. */
  readonly receiver_id: string
  readonly owner_id: string
  readonly event_type: string
  /** The resource that the event is about: of one resource one is told after the other. */
  readonly resource_id: string
  readonly created_at: number
  /** pending, delivered, failed, cancelled or skipped. */
  readonly state: string
  /** inline, background, repeat or test: what its attempts are. */
  readonly phase: string
  /** Recorded ones. */
  readonly attempts: number
  readonly attempts_max: number
  /**
   * From when on a pending one may be taken. While somebody is at it, that is when the lease ends;
   * so what a crash has left behind comes again.
   */
  readonly due_at: number | null
  /** Who is at it. */
  readonly lease: string | null
  /** In steady time. */
  readonly last_attempt_at: number | null
  /** In place of the event's own: of one that stands for several events. */
  readonly body: string | null
}

interface DeliveryAttemptTable {
  readonly delivery_id: string
  /** From 1 on. */
  readonly attempt: number
  readonly receiver_id: string
  readonly event_id: string
  readonly event_type: string
  readonly attempted_at: number
  readonly duration_us: number
  readonly status_code: number | null
  readonly delivered: number
  readonly message: string
  readonly next_attempt_at: number | null
  /** JSON object, with marks in place of what may be secret. */
  readonly request_headers: string
  /** The beginning of the answer. */
  readonly response_excerpt: string
}
