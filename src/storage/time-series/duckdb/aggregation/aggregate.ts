import type { DuckDBConnection } from '@duckdb/node-api'
import type { AggregatePage, AggregateQuery } from '../../aggregate-query.ts'
import { aggregatePage } from '../../aggregation/aggregate.ts'
import type { Catalog } from '../catalog.ts'
import { DuckDbPointReader } from './read-points.ts'
import { select } from './selection.ts'

/** One page of aggregated points, over all shapes that the streams have had. */
export async function aggregateReadings(
  connection: DuckDBConnection,
  catalog: Catalog,
  query: AggregateQuery,
): Promise<AggregatePage> {
  return await aggregatePage(
    new DuckDbPointReader({ connection, catalog, selection: select(catalog, query) }),
  )
}
