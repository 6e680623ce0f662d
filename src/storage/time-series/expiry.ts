/** Readings of a stream that are not kept any longer: those from before a time. */
export interface Expiry {
  readonly streamId: string
  readonly beforeUs: number
}

/** What removes readings that are too old, besides everything else. */
export interface ExpiringStore {
  /**
   * Removes what is older than it is to be kept, and counts it as expired. It goes in portions, each with
   * its count in one transaction, and rests in between, so that shipments go on. Each stream stands
   * in it once. To be repeated when it fails, or was ended by the signal; what has come late since is
   * left for the next time.
   */
  expire(expiries: readonly Expiry[], signal: AbortSignal): Promise<void>

  /**
   * Is told for how long all streams keep their readings, in microseconds; those that are not named keep everything. For a
   * store that keeps those apart that go at about the same time.
   */
  arrange?(kept: ReadonlyMap<string, number>): Promise<void>
}
