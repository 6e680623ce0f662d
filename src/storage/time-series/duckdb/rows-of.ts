import type { DuckDBConnection } from '@duckdb/node-api'

/** All rows of a query, as objects by column name. */
export async function rowsOf(
  connection: DuckDBConnection,
  sql: string,
): Promise<Record<string, unknown>[]> {
  const reader = await connection.runAndReadAll(sql)
  return reader.getRowObjectsJS()
}
