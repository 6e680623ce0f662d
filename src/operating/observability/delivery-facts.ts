import type { TracingFigures } from '../../core/tracing.ts'
import { type MetricName, metricHelp } from './metric-help.ts'
import type { Metric } from './metrics.ts'

/** Measured deliveries of one channel, since the start. */
interface MeasuredChannel {
  /** Attempts under way. */
  readonly active: number
  /** Deliveries that are taken, those being attempted included. */
  readonly taken: number
  /** Receivers with something to be delivered. */
  readonly receivers: number
  /** Attempts that were answered well, and all others. */
  readonly delivered: number
  readonly failed: number
}

/** Measured deliveries to receivers of events. */
export interface MeasuredDeliveries {
  readonly webhooks: MeasuredChannel
  readonly mail: MeasuredChannel
  /** Deliveries that are not over, and coalesced events that are due; both up to 100,000. */
  readonly deliveriesPending: number
  readonly coalescedWaiting: number
  /** Spans of the thread that delivers. */
  readonly tracing: TracingFigures | undefined
}

/** Measured events, on their way to users. */
export interface MeasuredNotifying {
  /** Users with very many events at once, some of which wait. */
  readonly usersWaiting: number
  /** Entries that found no room in the inbox of their user, since the start. */
  readonly inboxRefused: number
  /** Mails that were not written since the start: there were too many for their addresses. */
  readonly mailsWithheld: number
}

/** The figures of deliveries. */
export function deliveryMetrics(
  stats: () => MeasuredDeliveries | undefined,
  notifying: () => MeasuredNotifying | undefined,
): readonly Metric[] {
  const figures: readonly [Metric['type'], MetricName, () => number][] = [
    ['gauge', 'delivery_attempts_running', () => stats()?.webhooks.active ?? 0],
    ['gauge', 'deliveries_taken', () => stats()?.webhooks.taken ?? 0],
    ['gauge', 'deliveries_webhooks', () => stats()?.webhooks.receivers ?? 0],
    ['counter', 'deliveries_total', () => stats()?.webhooks.delivered ?? 0],
    ['counter', 'delivery_attempts_failed_total', () => stats()?.webhooks.failed ?? 0],
    ['gauge', 'mail_attempts_running', () => stats()?.mail.active ?? 0],
    ['gauge', 'mail_recipients', () => stats()?.mail.receivers ?? 0],
    ['counter', 'mails_total', () => stats()?.mail.delivered ?? 0],
    ['counter', 'mail_attempts_failed_total', () => stats()?.mail.failed ?? 0],
    ['counter', 'mails_withheld_total', () => notifying()?.mailsWithheld ?? 0],
    ['gauge', 'deliveries_pending', () => stats()?.deliveriesPending ?? 0],
    ['gauge', 'coalesced_events_waiting', () => stats()?.coalescedWaiting ?? 0],
    ['gauge', 'events_waiting_users', () => notifying()?.usersWaiting ?? 0],
    ['counter', 'inbox_entries_refused_total', () => notifying()?.inboxRefused ?? 0],
  ]
  return figures.map(([type, name, value]) => ({ type, name, help: metricHelp[name], value }))
}
