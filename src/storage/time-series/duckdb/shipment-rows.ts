import type { DuckDBConnection } from '@duckdb/node-api'
import type { Shape } from '../shape.ts'
import type { ShippedReading } from '../shipment.ts'
import { appendColumns, ReadingRows } from './append.ts'
import { type Catalog, createReadingsTable, tableName } from './catalog.ts'
import { IntegerColumn, TextColumn } from './columns.ts'
import { monthOf } from './months.ts'
import type { RowsByTable, StreamRows } from './table-rows.ts'

/** Makes the tables, and notes the shapes, that rows need and that are not there yet. */
export async function createMissing(
  connection: DuckDBConnection,
  catalog: Catalog,
  rows: RowsByTable,
): Promise<void> {
  for (const [table, parts] of rows) {
    if (catalog.tables.has(table)) continue
    const { shape, timestampUs } = firstOf(parts)
    await noteShape(connection, catalog, shape)
    await createMonth(connection, catalog, { shape, month: monthOf(timestampUs) })
  }
}

/** Makes the table of a shape for a month, unless it is there. Returns its name. */
export async function createMonth(
  connection: DuckDBConnection,
  catalog: Catalog,
  { shape, month }: { readonly shape: Shape; readonly month: number },
): Promise<string> {
  const name = tableName(shape.id, month)
  if (catalog.tables.has(name)) return name
  await connection.run(createReadingsTable(name, shape))
  catalog.tables.set(name, { name, shape: shape.id, month, rows: 0, revision: 0 })
  return name
}

/** Notes a shape that was not known before. */
export async function noteShape(
  connection: DuckDBConnection,
  catalog: Catalog,
  shape: Shape,
): Promise<void> {
  if (catalog.shapes.has(shape.id)) return
  const columns = JSON.stringify(shape.columns)
  await connection.run('INSERT INTO shapes VALUES ($1, $2)', [shape.id, columns])
  catalog.shapes.set(shape.id, shape)
}

/** Appends the streams that have no row yet: those behind the first `streamsBefore`. */
export async function appendNewStreams(
  connection: DuckDBConnection,
  catalog: Catalog,
  streamsBefore: number,
): Promise<void> {
  if (catalog.streams.size === streamsBefore) return
  const added = [...catalog.streams].slice(streamsBefore)
  await appendColumns(connection, 'streams', [
    new IntegerColumn(added.length).fill(added.map(([, { key }]) => key)),
    new TextColumn(added.length).fill(added.map(([id]) => id)),
  ])
}

/** Appends rows table by table: many streams share one table. */
export async function appendRows(connection: DuckDBConnection, rows: RowsByTable): Promise<void> {
  for (const [table, parts] of rows) {
    const { shape } = firstOf(parts)
    const columns = new ReadingRows(shape, rowsIn(parts))
    await noteShapeOf(connection, shape, parts)
    for (const { record, readings } of parts) {
      for (const reading of readings) columns.push(record.key, reading)
    }
    await columns.appendTo(connection, table)
  }
}

/** Notes which streams have a shape from now on. */
async function noteShapeOf(
  connection: DuckDBConnection,
  { id }: Shape,
  parts: readonly StreamRows[],
): Promise<void> {
  const added = parts.flatMap(({ record }) => (record.shapes.has(id) ? [] : [record]))
  if (added.length === 0) return
  await appendColumns(connection, 'stream_shapes', [
    new IntegerColumn(added.length).fill(added.map(({ key }) => key)),
    new TextColumn(added.length).fill(added.map(() => id)),
  ])
  for (const { shapes } of added) shapes.add(id)
}

/** How many rows they are together. */
export function rowsIn(parts: readonly StreamRows[]): number {
  return parts.reduce((sum, { readings }) => sum + readings.length, 0)
}

/** The first reading of what goes to one table: all have its shape. */
export function firstOf(parts: readonly StreamRows[]): ShippedReading {
  return parts[0]?.readings[0] as ShippedReading
}
