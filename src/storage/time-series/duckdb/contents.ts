import type { DuckDBConnection } from '@duckdb/node-api'
import { Catalog } from './catalog.ts'
import { LateTables, rowsPerLateTable } from './late/late-tables.ts'

/** What a file has, in memory: other objects once it was opened anew. */
export interface Contents {
  readonly catalog: Catalog
  readonly late: LateTables
}

/** Makes the tables that are missing and reads the rest. */
export async function loadContents(
  connection: DuckDBConnection,
  rowsPerTable = rowsPerLateTable,
): Promise<Contents> {
  const catalog = await Catalog.load(connection)
  return { catalog, late: await LateTables.load(connection, rowsPerTable) }
}
