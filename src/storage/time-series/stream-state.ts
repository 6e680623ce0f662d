import type { DecayingRate } from '../../core/decaying-rate.ts'
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

/**
 * Sums over all streams.
 *
 * @param departed what was counted of the streams that have left
 */
export function totalsOf(
  streams: Iterable<Pick<StreamState, 'counts'>>,
  departed: StoredCounts,
): Omit<StoredTotals, 'streams'> {
  const sums = { ...departed }
  for (const { counts } of streams) addCounts(sums, counts)
  const { received, stored, duplicates, deleted, expired, unchanged, refused = 0 } = sums
  return { received, stored, duplicates, deleted, expired, unchanged, refused }
}

/** Adds what was counted of a stream to what was counted of others. */
export function addCounts(sums: OwnCounts, added: StoredCounts): void {
  sums.received += added.received
  sums.stored += added.stored
  sums.duplicates += added.duplicates
  sums.deleted += added.deleted
  sums.expired += added.expired
  sums.unchanged += added.unchanged
  if (added.refused !== undefined) sums.refused = (sums.refused ?? 0) + added.refused
}
