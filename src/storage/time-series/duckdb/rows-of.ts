import type { DuckDBConnection } from '@duckdb/node-api'

/** All rows of a query, as objects by column name. */
export async function rowsOf(
  connection: DuckDBConnection,
  sql: string,
): Promise<Record<string, unknown>[]> {
  const reader = await connection.runAndReadAll(sql)
  return reader.getRowObjectsJS()
}

/**
 * Passes on the rows of a query one by one: of many only those of a chunk are in memory, beside what is made of them.
 * Numbers, texts, and true and false only: values of other types are those of the library.
 */
export async function visitRows(
  connection: DuckDBConnection,
  sql: string,
  take: (row: Readonly<Record<string, unknown>>) => void,
): Promise<void> {
  const result = await connection.run(sql)
  const names = result.deduplicatedColumnNames()
  for (;;) {
    const chunk = await result.fetchChunk()
    if (chunk === null || chunk.rowCount === 0) return
    const columns = names.map((name, index) => ({ name, values: chunk.getColumnVector(index) }))
    for (let at = 0; at < chunk.rowCount; at++) {
      const row: Record<string, unknown> = {}
      for (const { name, values } of columns) row[name] = values.getItem(at)
      take(row)
    }
  }
}
