import type { Metric } from './metrics.ts'

/** What tells of deliveries to receivers of events, since the start. */
export interface MeasuredDeliveries {
  /** Attempts under way. */
  readonly active: number
  /** Deliveries that are taken, those being attempted included. */
  readonly taken: number
  /** Receivers with something to be delivered. */
  readonly webhooks: number
  /** Attempts that were answered well, and all others. */
  readonly delivered: number
  readonly failed: number
}

/** The figures of deliveries. */
export function deliveryMetrics(stats: () => MeasuredDeliveries | undefined): readonly Metric[] {
  const figures: readonly [Metric['type'], string, string, () => number][] = [
    ['gauge', 'delivery_attempts_running', 'Under way', () => stats()?.active ?? 0],
    ['gauge', 'deliveries_taken', 'In memory', () => stats()?.taken ?? 0],
    ['gauge', 'deliveries_webhooks', 'With something to come', () => stats()?.webhooks ?? 0],
    ['counter', 'deliveries_total', 'Answered with 2xx', () => stats()?.delivered ?? 0],
    ['counter', 'delivery_attempts_failed_total', 'All others', () => stats()?.failed ?? 0],
  ]
  return figures.map(([type, name, help, value]) => ({ type, name, help, value }))
}
