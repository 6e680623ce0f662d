import type { DuckDBConnection } from '@duckdb/node-api'
import type { AggregatePage, AggregateQuery } from '../../aggregate-query.ts'
import { aggregatePage } from '../../aggregation/aggregate.ts'
import type { Catalog } from '../catalog.ts'
import { DuckDbPointReader } from './read-points.ts'
import { type Selection, select } from './selection.ts'
import { splitSelection } from './split-selection.ts'

/** One page of aggregated points, over all shapes that the streams have had. */
export async function aggregateReadings(
  connection: DuckDBConnection,
  catalog: Catalog,
  query: AggregateQuery,
): Promise<AggregatePage> {
  const pageOf = async (selection: Selection) =>
    await aggregatePage(new DuckDbPointReader({ connection, catalog, selection }))
  const selection = select(catalog, query)
  if (selection.split === undefined) return await pageOf(selection)
  // The values that were found are those of all statements that follow: the connection ends with the query.
  await connection.run('BEGIN TRANSACTION READ ONLY')
  const split = await splitSelection({ connection, catalog, selection }, selection.split.field)
  return split.query.series.length === 0 ? { points: [], next: undefined } : await pageOf(split)
}
