import type { DuckDBConnection } from '@duckdb/node-api'
import type { Expiry } from '../../expiry.ts'
import type { Catalog } from '../catalog.ts'
import { listExpiring } from '../expiry.ts'
import { windowsTable } from './window-catalog.ts'

/** Results of one portion: nobody else writes meanwhile. */
const resultsPerPortion = 50_000

/** Removes some results that are too old. Returns whether there may be more. */
export async function expireResults(
  writer: DuckDBConnection,
  catalog: Catalog,
  expiries: readonly Expiry[],
): Promise<boolean> {
  const expiring = expiries.flatMap(({ streamId, beforeUs }) => {
    const record = catalog.streams.get(streamId)
    return record && catalog.windows.streams.has(streamId) ? [{ record, beforeUs }] : []
  })
  if (expiring.length === 0) return false
  await listExpiring(writer, expiring)
  const latestUs = expiring.reduce((latest, { beforeUs }) => Math.max(latest, beforeUs), 0)
  for (const month of catalog.windows.monthsOf(0, latestUs)) {
    const table = windowsTable(month)
    const { rowsChanged } = await writer.run(
      `DELETE FROM ${table} WHERE rowid IN (
         SELECT ${table}.rowid FROM ${table} SEMI JOIN expiring
           ON key = "streamId" AND start_us < before_us
         LIMIT ${resultsPerPortion})`,
    )
    if (rowsChanged > 0) return true
  }
  return false
}
