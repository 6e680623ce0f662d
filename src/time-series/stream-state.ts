import type { DecayingRate } from '../core/decaying-rate.ts'
import type { StoredCounts, StoredTotals } from './time-series-store.ts'

/** What a store knows of one stream, in memory; what it keeps on disk says the same. */
export interface StreamState {
  /** Ids of the shapes that its readings have had. */
  readonly shapes: Set<string>
  counts: StoredCounts
  /** Newest timestamp that is stored, or -1: what is newer cannot be a duplicate. */
  timestampMaxUs: number
  /** What the newest stored reading says, if the stream drops others like it. */
  newestContent: bigint | undefined
  readonly rate: DecayingRate
}

/** Counts that one record has to itself, and that are changed in place: with a shipment thousands of them change. */
export type OwnCounts = { -readonly [Name in keyof StoredCounts]: StoredCounts[Name] }

/** Counts of a stream of which nothing has arrived. */
export const noCounts: StoredCounts = {
  received: 0,
  stored: 0,
  duplicates: 0,
  deleted: 0,
  expired: 0,
  keptFromUs: 0,
  unchanged: 0,
  latencyUs: 0,
  lastStoredAtUs: 0,
}

/** Sums over all streams. */
export function totalsOf(streams: Iterable<StreamState>): StoredTotals {
  let stored = 0
  let duplicates = 0
  let deleted = 0
  let expired = 0
  let unchanged = 0
  for (const { counts } of streams) {
    stored += counts.stored
    duplicates += counts.duplicates
    deleted += counts.deleted
    expired += counts.expired
    unchanged += counts.unchanged
  }
  return { stored, duplicates, deleted, expired, unchanged }
}
