import type { DuckDBConnection } from '@duckdb/node-api'
import { addCounts } from '../stream-state.ts'
import { type Catalog, quoted, type StreamRecord } from './catalog.ts'
import type { Contents } from './contents.ts'
import { moveToDeparted } from './counts.ts'
import { givenKeys } from './given-rows.ts'
import { rollupTable } from './rollups/rollup-catalog.ts'
import { rowsOf } from './rows-of.ts'
import type { StoreTurns } from './store-turns.ts'
import { windowsTable } from './windows/window-catalog.ts'

/**
 * Rows of one portion, about: what is deleted in one transaction is kept in memory until the end of it, and
 * shipments wait meanwhile.
 */
const rowsPerPortion = 200_000

/** Tables that have few rows of a stream. */
const smallTables = [
  'streams',
  'stream_shapes',
  'window_definitions',
  'window_marks',
  'rollup_streams',
  'rollup_marks',
] as const

interface Leaving {
  readonly id: string
  readonly record: StreamRecord
}

interface Departure {
  readonly catalog: Catalog
  readonly leaving: readonly Leaving[]
  /** SQL of the numbers of these streams, for `IN`. */
  readonly keys: string
}

/**
 * Removes all that the file has of streams that get no more, portion by portion: shipments come in between. Their
 * counts go to those of all that have left in the last transaction, together with the streams themselves, so what was
 * cut off before is begun again and finds what is left.
 *
 * @throws Error when readings of them still wait to be looked up, or the file was opened anew meanwhile
 */
export async function removeStreams(
  turns: StoreTurns,
  contentsNow: () => Contents,
  streamIds: readonly string[],
): Promise<void> {
  const { catalog } = contentsNow()
  const leaving = [...new Set(streamIds)].flatMap((id) => {
    const record = catalog.streams.get(id)
    return record ? [{ id, record }] : []
  })
  if (leaving.length === 0) return
  const keys = givenKeys(leaving.map(({ record }) => record.key))
  const departure: Departure = { catalog, leaving, keys }
  const write = <Result>(work: (writer: DuckDBConnection) => Promise<Result>) =>
    turns.write(async (writer, now) => {
      if (now !== catalog) throw new Error('the time-series file was opened again')
      return await work(writer)
    })
  for (const { id } of leaving) {
    catalog.windows.remove(id)
    catalog.rollups.remove(id)
  }
  const shapes = new Set(leaving.flatMap(({ record }) => [...record.shapes]))
  for (const { name } of [...shapes].flatMap((shape) => catalog.tablesOfShape(shape))) {
    while (await write((writer) => removeReadings(writer, departure, name)));
  }
  const rolledUp = [...shapes].filter((shape) => catalog.rollups.shapes.has(shape))
  const computed = [...[...catalog.windows.months].map(windowsTable), ...rolledUp.map(rollupTable)]
  for (const table of computed) {
    while (await write((writer) => removePortion(writer, table, keys)));
  }
  await write(async (writer) => {
    const { late } = contentsNow()
    if (leaving.some(({ record }) => late.has(record))) {
      throw new Error('readings of a stream that leaves wait to be looked up')
    }
    await leave(writer, departure)
  })
}

/** Returns whether there may be more. A table that nobody else has readings in goes as a whole. */
async function removeReadings(
  writer: DuckDBConnection,
  { catalog, keys }: Departure,
  name: string,
): Promise<boolean> {
  // It may have expired meanwhile.
  if (!catalog.tables.has(name)) return false
  const others = await rowsOf(
    writer,
    `SELECT 1 FROM ${quoted(name)} WHERE "streamId" NOT IN ${keys} LIMIT 1`,
  )
  catalog.touch(name)
  if (others.length > 0) return await removePortion(writer, name, keys)
  await writer.run(`DROP TABLE ${quoted(name)}`)
  catalog.tables.delete(name)
  return false
}

/** Returns whether there may be more. */
async function removePortion(
  writer: DuckDBConnection,
  table: string,
  keys: string,
): Promise<boolean> {
  const [portion] = await rowsOf(
    writer,
    `SELECT min(row)::DOUBLE AS first, max(row)::DOUBLE AS last, count(*)::DOUBLE AS rows FROM (
       SELECT rowid AS row FROM ${quoted(table)} WHERE "streamId" IN ${keys} LIMIT ${rowsPerPortion})`,
  )
  const { first, last, rows } = portion as Readonly<Record<string, number | null>>
  if (first === null || last === null) return false
  await writer.run(
    `DELETE FROM ${quoted(table)} WHERE "streamId" IN ${keys} AND rowid BETWEEN ${first} AND ${last}`,
  )
  return rows === rowsPerPortion
}

/** Nothing but counts is left of the streams: they leave, and so do shapes that no other stream has. */
async function leave(
  writer: DuckDBConnection,
  { catalog, leaving, keys }: Departure,
): Promise<void> {
  const departed = { ...catalog.departed }
  for (const { record } of leaving) addCounts(departed, record.counts)
  const left = shapesLeft(catalog, leaving)
  const rolledUp = left.filter((shape) => catalog.rollups.shapes.has(shape))
  const tables = left.flatMap((shape) => catalog.tablesOfShape(shape)).map(({ name }) => name)

  await writer.run('BEGIN')
  for (const table of smallTables) {
    await writer.run(`DELETE FROM ${table} WHERE "streamId" IN ${keys}`)
  }
  const countRowsLess = await moveToDeparted(writer, keys, departed)
  await writer.run('DELETE FROM given_keys')
  await writer.run(`INSERT INTO given_keys VALUES (${catalog.lastKey})`)
  for (const shape of left) await writer.run('DELETE FROM shapes WHERE shape = $1', [shape])
  for (const table of [...tables, ...rolledUp.map(rollupTable)]) {
    await writer.run(`DROP TABLE ${quoted(table)}`)
  }
  await writer.run('COMMIT')

  for (const table of tables) catalog.tables.delete(table)
  for (const shape of left) {
    catalog.shapes.delete(shape)
    catalog.rollups.shapes.delete(shape)
  }
  for (const { id } of leaving) catalog.leave(id)
  catalog.departed = departed
  catalog.countRows -= countRowsLess
}

/** Shapes that these streams have had, and nobody else. */
function shapesLeft(catalog: Catalog, leaving: readonly Leaving[]): readonly string[] {
  const left = new Set(leaving.flatMap(({ record }) => [...record.shapes]))
  const records = new Set(leaving.map(({ record }) => record))
  for (const record of catalog.streams.values()) {
    if (left.size === 0) break
    if (records.has(record)) continue
    for (const shape of record.shapes) left.delete(shape)
  }
  return [...left].filter((shape) => catalog.shapes.has(shape))
}
