import type { Clock } from '../../src/core/clock.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'

/** A store that is open. Disposing of it closes it and removes what it has stored. */
export interface OpenStore<Store extends TimeSeriesStore = TimeSeriesStore>
  extends AsyncDisposable {
  readonly store: Store
  /** Closes the store and opens it again; `store` is the new one then. */
  reopen(): Promise<void>
  /**
   * Does work, and opens the store again as if the process had died before the end of it: where a server has
   * what was sent, and the data folder knows nothing of it. Nothing where that cannot be.
   */
  readonly losing?: (work: () => Promise<void>) => Promise<void>
}

/** Opens a new, empty store whose time is the clock's. */
export type OpenNewStore = (clock?: Clock) => Promise<OpenStore>

/** A store that a property fills with one new stream for each of its runs. */
export async function withStreams(
  open: OpenNewStore,
  check: (opened: OpenStore, newStream: () => string) => Promise<void>,
): Promise<void> {
  await using opened = await open()
  let streams = 0
  await check(opened, () => `stream-${++streams}`)
}
