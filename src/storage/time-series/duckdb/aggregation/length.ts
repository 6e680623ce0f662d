import type { AggregateQuery } from '../../aggregate-query.ts'
import type { Catalog } from '../catalog.ts'
import type { ReadLength } from '../working-threads.ts'

/** Rows that are looked through within some tens of milliseconds, to find those of the streams. */
const rowsOfShortMax = 10_000_000

/** Readings that are aggregated in some milliseconds. */
const readingsOfShortMax = 100_000

/** How much an aggregation looks at, by what its streams and the tables of its months hold, about. */
export function aggregationLength(
  catalog: Catalog,
  { series, startUs, endUs }: AggregateQuery,
): ReadLength {
  let readings = 0
  const shapes = new Set<string>()
  for (const { streamIds } of series) {
    for (const id of streamIds) {
      const stream = catalog.streams.get(id)
      if (!stream) continue
      readings += stream.counts.stored
      if (readings > readingsOfShortMax) return 'long'
      for (const shape of stream.shapes) shapes.add(shape)
    }
  }
  const tables = [...shapes].flatMap((shape) => catalog.tablesOf(shape, startUs, endUs))
  const rows = tables.reduce((sum, table) => sum + table.rows, 0)
  return rows <= rowsOfShortMax ? 'short' : 'long'
}
