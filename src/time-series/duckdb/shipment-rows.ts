import type { DuckDBConnection } from '@duckdb/node-api'
import type { Shape, StoredReading } from '../time-series-store.ts'
import { appendColumns, ReadingRows } from './append.ts'
import { type Catalog, createReadingsTable } from './catalog.ts'
import { IntegerColumn, TextColumn } from './columns.ts'
import type { TableRows } from './table-rows.ts'

/** Makes the tables, and notes the shapes, that rows need and that are not there yet. */
export async function createMissing(
  connection: DuckDBConnection,
  catalog: Catalog,
  rows: readonly TableRows[],
): Promise<void> {
  for (const { table, month, readings } of rows) {
    if (catalog.tables.has(table)) continue
    const { shape } = readings[0] as StoredReading
    if (!catalog.shapes.has(shape.id)) {
      const columns = JSON.stringify(shape.columns)
      await connection.run('INSERT INTO shapes VALUES ($1, $2)', [shape.id, columns])
      catalog.shapes.set(shape.id, shape)
    }
    await connection.run(createReadingsTable(table, shape))
    catalog.tables.set(table, { name: table, shape: shape.id, month, revision: 0 })
  }
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
export async function appendRows(
  connection: DuckDBConnection,
  rows: readonly TableRows[],
): Promise<void> {
  for (const [table, parts] of Map.groupBy(rows, (part) => part.table)) {
    const { shape } = (parts[0] as TableRows).readings[0] as StoredReading
    const count = parts.reduce((sum, { readings }) => sum + readings.length, 0)
    const columns = new ReadingRows(shape, count)
    await noteShape(connection, shape, parts)
    for (const { record, readings } of parts) {
      for (const reading of readings) columns.push(record.key, reading)
    }
    await columns.appendTo(connection, table)
  }
}

/** Notes which streams have a shape from now on. */
async function noteShape(
  connection: DuckDBConnection,
  { id }: Shape,
  parts: readonly TableRows[],
): Promise<void> {
  const added = parts.flatMap(({ record }) => (record.shapes.has(id) ? [] : [record]))
  if (added.length === 0) return
  await appendColumns(connection, 'stream_shapes', [
    new IntegerColumn(added.length).fill(added.map(({ key }) => key)),
    new TextColumn(added.length).fill(added.map(() => id)),
  ])
  for (const { shapes } of added) shapes.add(id)
}
