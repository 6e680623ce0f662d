import { BIGINT, type DuckDBConnection, type DuckDBValue, INTEGER } from '@duckdb/node-api'
import type { StoredCounts } from '../time-series-store.ts'
import { appendColumns } from './append.ts'
import type { Catalog } from './catalog.ts'
import type { CountChange } from './stream-groups.ts'

/** Rows of counts that may pile up beyond one per stream before they are summed up. */
const countRowsSlack = 50_000

/**
 * Appends what was added, within the transaction of the rows; now and then one row per stream takes
 * the place of them all. Returns how many rows there are then.
 */
export async function writeCounts(
  writer: DuckDBConnection,
  catalog: Catalog,
  changes: readonly CountChange[],
): Promise<number> {
  const compact = catalog.countRows + changes.length > catalog.streams.size + countRowsSlack
  if (!compact) {
    const rows = changes.map(({ record, added }) => countRow(record.key, added))
    await append(writer, rows)
    return catalog.countRows + rows.length
  }
  const changed = new Map(changes.map(({ record, after }) => [record, after]))
  const rows = [...catalog.streams.values()].map((record) => {
    const { counts, timestampMaxUs } = changed.get(record) ?? record
    return countRow(record.key, { ...counts, timestampMaxUs })
  })
  await writer.run('DELETE FROM stream_counts')
  await append(writer, rows)
  return rows.length
}

async function append(writer: DuckDBConnection, rows: readonly DuckDBValue[][]): Promise<void> {
  const types = [INTEGER, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT, BIGINT]
  const columns = types.map((_, index) => rows.map((row) => row[index] ?? null))
  await appendColumns(writer, 'stream_counts', types, columns)
}

function countRow(
  key: number,
  row: StoredCounts & { readonly timestampMaxUs: number },
): DuckDBValue[] {
  const numbers = [
    row.received,
    row.stored,
    row.duplicates,
    row.latencyUs,
    row.lastStoredAtUs,
    row.timestampMaxUs,
  ]
  return [key, ...numbers.map((number) => BigInt(number))]
}
