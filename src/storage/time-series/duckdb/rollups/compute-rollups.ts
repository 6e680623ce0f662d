import type { DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api'
import { rollupWidthUs } from '../../rollups/rollup-width.ts'
import type { Shape } from '../../shape.ts'
import { type Catalog, quoted, type ReadingsTable } from '../catalog.ts'
import { givenRows } from '../given-rows.ts'
import { type RollupChunk, type RollupPiece } from './due-rollups.ts'
import { rollupTable } from './rollup-catalog.ts'
import { createRollupTable, rollUpSql, valueName } from './rollup-columns.ts'

/** Rows of one shape as the engine has computed them. */
export interface ComputedRows {
  readonly shape: Shape
  readonly chunks: readonly DuckDBDataChunk[]
}

/** Reads through a connection of its own, beside those who write. */
export async function computeRollups(
  reader: DuckDBConnection,
  catalog: Catalog,
  { pieces, tables }: RollupChunk,
): Promise<readonly ComputedRows[]> {
  const computed: ComputedRows[] = []
  for (const table of tables) {
    const shape = catalog.shapes.get(table.shape)
    const own = pieces.filter(({ record }) => record.shapes.has(table.shape))
    if (!shape || own.length === 0) continue
    const start = `epoch_us("timestamp") // ${rollupWidthUs} * ${rollupWidthUs}`
    const result = await reader.run(rollUpSql(shape, readingsSql(shape, table, own), start))
    computed.push({ shape, chunks: await result.fetchAllChunks() })
  }
  return computed
}

function readingsSql(
  { columns }: Shape,
  table: ReadingsTable,
  pieces: readonly RollupPiece[],
): string {
  const fields = columns.map(({ name }, place) => `, r.${quoted(name)} AS ${valueName(place)}`)
  const { fromUs, toUs } = outlineOf(pieces)
  return `SELECT r."streamId", r."timestamp", r."$digest"${fields.join('')}
    FROM ${quoted(table.name)} r JOIN ${rowsOf(pieces)} p
      ON r."streamId" = p.key AND r."timestamp" >= make_timestamp(p.from_us)
        AND r."timestamp" < make_timestamp(p.to_us)
    WHERE r."timestamp" >= make_timestamp(${fromUs}::BIGINT)
      AND r."timestamp" < make_timestamp(${toUs}::BIGINT)`
}

function rowsOf(pieces: readonly RollupPiece[]): string {
  return givenRows({
    key: { type: 'INTEGER', values: pieces.map(({ record }) => record.key) },
    from_us: { type: 'BIGINT', values: pieces.map(({ fromUs }) => fromUs) },
    to_us: { type: 'BIGINT', values: pieces.map(({ toUs }) => toUs) },
  })
}

function outlineOf(pieces: readonly RollupPiece[]) {
  return {
    fromUs: pieces.reduce((least, { fromUs }) => Math.min(least, fromUs), Number.MAX_SAFE_INTEGER),
    toUs: pieces.reduce((greatest, { toUs }) => Math.max(greatest, toUs), 0),
  }
}

/** Makes the tables that rows need and that are not there yet. */
export async function createRollupTables(
  writer: DuckDBConnection,
  { rollups }: Catalog,
  computed: readonly ComputedRows[],
): Promise<void> {
  for (const { shape } of computed) {
    if (rollups.shapes.has(shape.id)) continue
    await writer.run(createRollupTable(rollupTable(shape.id), shape))
    rollups.shapes.add(shape.id)
  }
}

/** Puts rows in the place of those that there were, within a transaction. Returns how many there are. */
export async function replaceRows(
  writer: DuckDBConnection,
  { rollups }: Catalog,
  { pieces, computed }: { pieces: readonly RollupPiece[]; computed: readonly ComputedRows[] },
): Promise<number> {
  const { fromUs, toUs } = outlineOf(pieces)
  for (const shape of rollups.shapes) {
    await writer.run(
      `DELETE FROM ${rollupTable(shape)} USING ${rowsOf(pieces)} p
       WHERE "streamId" = p.key AND start_us >= p.from_us AND start_us < p.to_us
         AND start_us >= ${fromUs} AND start_us < ${toUs}`,
    )
  }
  let rows = 0
  for (const { shape, chunks } of computed) {
    const appender = await writer.createAppender(rollupTable(shape.id))
    try {
      for (const chunk of chunks) {
        appender.appendDataChunk(chunk)
        rows += chunk.rowCount
      }
    } finally {
      appender.closeSync()
    }
  }
  return rows
}
