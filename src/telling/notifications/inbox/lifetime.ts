/**
 * Time after which an entry is gone from the list, the count and everything else
 * (decisions.md#the-inbox).
 */
export const entryLifetimeUs = 30 * 24 * 3_600 * 1_000_000

const hourUs = 3_600_000_000

/** Hours since the epoch: entries are counted by the hour in which they expire. */
export function hourOf(timeUs: number): number {
  return Math.floor(timeUs / hourUs)
}
