import type { DuckDBConnection } from '@duckdb/node-api'
import type { ArrivedPoint, ReadingsAt, ReadingsAtQuery } from '../readings-query.ts'
import { quoted } from './catalog.ts'
import type { Contents } from './contents.ts'
import { atOnePosition } from './history.ts'
import { readPage, type Source, within } from './raw-readings.ts'
import { rowsOf } from './rows-of.ts'

/** All readings of one time, with when each came in. */
export async function readingsAt(
  connection: DuckDBConnection,
  contentsOf: () => Contents,
  { timestampUs, ...asked }: ReadingsAtQuery,
): Promise<ReadingsAt> {
  const time = { startUs: timestampUs, endUs: timestampUs + 1 }
  const query = { ...asked, ...time, fields: [], after: undefined }
  return await atOnePosition(connection, contentsOf, query, async (sources, position) => {
    const { points, next } = await readPage(connection, sources, query)
    const receipts = await receiptsOf(connection, sources, time)
    const arrived = points.map((point): ArrivedPoint => {
      return { ...point, receivedAtUs: receipts.get(point.digest) ?? 0 }
    })
    return { points: arrived, hasMore: next !== undefined, position }
  })
}

/** By digest: of a reading that waits to be looked up, and is there already, the first time. */
async function receiptsOf(
  connection: DuckDBConnection,
  sources: readonly Source[],
  time: { readonly startUs: number; readonly endUs: number },
): Promise<ReadonlyMap<bigint, number>> {
  const there = sources.filter(({ startUs, endUs }) => startUs < time.endUs && endUs > time.startUs)
  const receipts = new Map<bigint, number>()
  for (const { table, key } of there) {
    const rows = await rowsOf(
      connection,
      `SELECT "$digest", min(epoch_us("$receivedAt"))::DOUBLE AS "$received" FROM ${quoted(table)}
       WHERE ${within(key, time)} GROUP BY "$digest"`,
    )
    for (const row of rows) {
      const digest = row['$digest'] as bigint
      const receivedAtUs = row['$received'] as number
      receipts.set(digest, Math.min(receivedAtUs, receipts.get(digest) ?? receivedAtUs))
    }
  }
  return receipts
}
