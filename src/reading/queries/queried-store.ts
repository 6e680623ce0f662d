import type { AggregatePage, AggregateQuery } from '../../storage/time-series/aggregate-query.ts'
import type { ReadingsPage, ReadingsQuery } from '../../storage/time-series/readings-query.ts'
import type { StoredWindowsQuery } from '../../storage/time-series/windows/window-store.ts'
import type { WindowsPage } from '../windows/read-windows.ts'

/** Where answers come from. */
export interface QueriedStore {
  /** @throws DomainError `store_unavailable`, `overloaded`, `query_too_slow` */
  query(query: ReadingsQuery): Promise<ReadingsPage>
  /** @throws DomainError, the same and `too_many_points` */
  aggregate(query: AggregateQuery): Promise<AggregatePage>
  /** @throws DomainError as `query` */
  windows(query: StoredWindowsQuery): Promise<WindowsPage>
}
