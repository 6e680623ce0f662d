import type { DuckDBConnection } from '@duckdb/node-api'
import { type SplitField, SplitKeys, splitTextBytesMax } from '../../split-series.ts'
import type { Catalog } from '../catalog.ts'
import { rowsOf } from '../rows-of.ts'
import { rowsSql, streamsJoin } from './rows.ts'
import type { Selection } from './selection.ts'

interface SplitNeeds {
  readonly connection: DuckDBConnection
  readonly catalog: Catalog
  readonly selection: Selection
}

/**
 * The selection with a series for each value of a field, which are looked for month by month: a field with very many
 * of them is found out at the first.
 *
 * @throws DomainError `too_many_points`, `unsupported_query`
 */
export async function splitSelection(
  { connection, catalog, selection }: SplitNeeds,
  field: SplitField,
): Promise<Selection> {
  const { query } = selection
  const found = new SplitKeys(field)
  const values: Selection = { ...selection, fields: [], columns: [], holdUsMax: 0 }
  const range = { fromUs: query.startUs, toUs: query.endUs }
  for (const table of selection.tables) {
    const rows = rowsSql(catalog, { ...values, tables: [table] }, range)
    if (rows === '') continue
    for (const row of await rowsOf(connection, distinctSql(rows, values, field))) {
      if (row['isLong'] === true) found.refuseLongText()
      found.add(row['value'])
    }
  }
  const keys = found.sorted()
  const series = keys.map((key) => ({ key, streamIds: [] }))
  return { ...selection, query: { ...query, series }, split: { field, keys } }
}

/** Each value once, and in place of all long texts whether there is one. */
function distinctSql(rows: string, selection: Selection, { type }: SplitField): string {
  const isLong = type === 'varchar' ? `strlen("$split") > ${splitTextBytesMax}` : 'false'
  return `SELECT DISTINCT CASE WHEN ${isLong} THEN NULL ELSE "$split" END AS value,
      coalesce(${isLong}, false) AS "isLong"
    FROM (${rows}) r ${streamsJoin(selection)}`
}
