import type { DuckDBConnection } from '@duckdb/node-api'
import type { Removal } from '../shipment.ts'
import { type Catalog, quoted, type StreamRecord } from './catalog.ts'
import { monthOf } from './months.ts'
import { rowsOf } from './rows-of.ts'

/** The tables that readings of a stream in a range of time can be in, newest month first. */
export function tablesOf(
  catalog: Catalog,
  { shapes }: StreamRecord,
  { startUs, endUs }: Pick<Removal, 'startUs' | 'endUs'>,
): readonly string[] {
  if (startUs >= endUs) return []
  return [...shapes]
    .flatMap((shape) => catalog.tablesOf(shape, startUs, endUs))
    .sort((left, right) => right.month - left.month)
    .map(({ name }) => name)
}

/** The newest timestamp that is stored of a stream, or -1. */
export async function newestOf(
  connection: DuckDBConnection,
  catalog: Catalog,
  record: StreamRecord,
): Promise<number> {
  const upToNow = { startUs: 0, endUs: record.timestampMaxUs + 1 }
  let newestUs = -1
  for (const table of tablesOf(catalog, record, upToNow)) {
    // Tables of one month come together, whatever their shapes are.
    if (newestUs >= 0 && !table.endsWith(`_${monthOf(newestUs)}`)) break
    const [row] = await rowsOf(
      connection,
      `SELECT epoch_us(max("timestamp"))::DOUBLE AS newest FROM ${quoted(table)}
       WHERE "streamId" = ${record.key}`,
    )
    newestUs = Math.max(newestUs, (row?.['newest'] as number | null) ?? -1)
  }
  return newestUs
}
