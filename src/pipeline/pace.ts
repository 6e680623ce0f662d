import type { ConsumerPace } from './consumer.ts'

/**
 * The decider goes on at once: alerts must not wait. Each stream of a round costs it a row, so where
 * there are very many it works for a part of the time only, and has more entries of each then.
 */
export const deciderPace: ConsumerPace = { entriesMax: 50_000, intervalMs: 40, shareMax: 0.25 }

/** The shipper's transactions are larger. */
export const shipperPace: ConsumerPace = { entriesMax: 10_000, intervalMs: 100 }
