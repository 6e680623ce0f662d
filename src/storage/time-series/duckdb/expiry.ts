import type { DuckDBConnection } from '@duckdb/node-api'
import type { Expiry } from '../expiry.ts'
import { appendColumns } from './append.ts'
import { type Catalog, quoted, type ReadingsTable, type StreamRecord } from './catalog.ts'
import { BigIntColumn, IntegerColumn } from './columns.ts'
import type { Contents } from './contents.ts'
import { addExpired, addKeptFrom, replaceCounts } from './counts.ts'
import { isTableMissing } from './duckdb-file.ts'
import { startOfMonthUs } from './months.ts'
import { rowsOf } from './rows-of.ts'

/**
 * Rows of one portion, about: a shipment that comes meanwhile waits for the end of it, which is less than it
 * takes itself.
 */
const rowsPerPortion = 50_000

/** Streams whose readings have all expired, and that are noted together. */
export const endsPerPortion = 500

/** What is too old, by the small numbers of the streams; a table of one connection. */
const expiringDdl = 'CREATE OR REPLACE TEMP TABLE expiring (key INTEGER, before_us BIGINT)'

const isExpiring = `EXISTS (SELECT 1 FROM expiring
  WHERE key = "streamId" AND "timestamp" < make_timestamp(before_us))`

/** A stream of which something may be too old. */
export interface Expiring {
  readonly record: StreamRecord
  readonly beforeUs: number
  /** How many of its readings had been stored when this was begun. */
  readonly stored: number
}

/** What a table holds of streams with readings that are too old. */
export interface TableOutline {
  /** Whether there is anything in it that is to be kept. */
  readonly hasOthers: boolean
  /** Rows that are too old by stream, when there are no others. */
  readonly rows: ReadonlyMap<number, number>
  readonly hasExpired: boolean
  readonly revision: number
}

/** Streams that the store knows something of, and in which it was not looked so far yet. */
export function expiringStreams(catalog: Catalog, expiries: readonly Expiry[]): Expiring[] {
  return expiries.flatMap((expiry): Expiring[] => {
    const record = catalog.streams.get(expiry.streamId)
    const beforeUs = catalog.windows.expirableUs(catalog.keptFromUs, expiry)
    if (!record || record.timestampMaxUs < 0 || record.expiredToUs >= beforeUs) return []
    return [{ record, beforeUs, stored: record.counts.stored }]
  })
}

/** The tables that can hold anything that is too old, oldest first. */
export function expiringTables(
  catalog: Catalog,
  expiring: readonly Expiring[],
): readonly ReadingsTable[] {
  const beforeUs = new Map<string, number>()
  for (const { record, beforeUs: before } of expiring) {
    for (const shape of record.shapes) {
      beforeUs.set(shape, Math.max(beforeUs.get(shape) ?? 0, before))
    }
  }
  return [...catalog.tables.values()]
    .filter(({ shape, month }) => startOfMonthUs(month) < (beforeUs.get(shape) ?? 0))
    .sort((left, right) => left.month - right.month)
}

/** From now on nobody may rely on what is older: written down before the first of it goes. */
export async function noteKeptFrom(
  writer: DuckDBConnection,
  catalog: Catalog,
  expiring: readonly Expiring[],
): Promise<void> {
  const later = expiring.filter(({ record, beforeUs }) => record.counts.keptFromUs < beforeUs)
  await writer.run('BEGIN')
  const kept = later.map(({ record, beforeUs }) => [record, beforeUs] as const)
  const rows = await addKeptFrom(writer, kept)
  await writer.run('COMMIT')
  catalog.countRows += rows
  for (const [record, keptFromUs] of kept) record.counts = { ...record.counts, keptFromUs }
}

/** Reads through a connection of its own, beside those who write. */
export async function outlineOf(
  reader: DuckDBConnection,
  table: ReadingsTable,
  expiring: readonly Expiring[],
): Promise<TableOutline> {
  const { revision } = table
  await listExpiring(reader, expiring)
  const found = await rowsUnlessGone(
    reader,
    `SELECT "streamId" AS key, count(*)::DOUBLE AS rows,
       any_value(before_us) IS NULL OR max("timestamp") >= make_timestamp(any_value(before_us))
         AS "isKept",
       coalesce(min("timestamp") < make_timestamp(any_value(before_us)), false) AS "isExpiring"
     FROM ${quoted(table.name)} LEFT JOIN expiring ON key = "streamId" GROUP BY "streamId"`,
  )
  const hasOthers = found.some((row) => row['isKept'] === true)
  const rows = found.map((row) => [Number(row['key']), Number(row['rows'])] as const)
  return {
    hasOthers,
    rows: new Map(hasOthers ? [] : rows),
    hasExpired: found.some((row) => row['isExpiring'] === true),
    revision,
  }
}

/** Removes a table with all that is in it. False when it has changed since the outline was made. */
export async function dropTable(
  writer: DuckDBConnection,
  catalog: Catalog,
  {
    table,
    outline,
    expiring,
  }: {
    readonly table: ReadingsTable
    readonly outline: TableOutline
    readonly expiring: readonly Expiring[]
  },
): Promise<boolean> {
  if (catalog.tables.get(table.name)?.revision !== outline.revision) return false
  await writer.run('BEGIN')
  const counted = countedOf(expiring, outline.rows)
  const rows = await addExpired(writer, counted)
  await writer.run(`DROP TABLE ${quoted(table.name)}`)
  await writer.run('COMMIT')
  catalog.countRows += rows
  catalog.tables.delete(table.name)
  countExpired(counted)
  return true
}

/** Removes as many rows as go together. Returns whether there may be more of what was there. */
export async function expirePortion(
  writer: DuckDBConnection,
  catalog: Catalog,
  { table, expiring }: { readonly table: ReadingsTable; readonly expiring: readonly Expiring[] },
): Promise<boolean> {
  // The last stream that had readings in it may have left meanwhile.
  if (!catalog.tables.has(table.name)) return false
  const name = quoted(table.name)
  await listExpiring(writer, expiring)
  const latestUs = expiring.reduce((latest, { beforeUs }) => Math.max(latest, beforeUs), 0)
  const [portion] = await rowsOf(
    writer,
    `SELECT min(row)::DOUBLE AS first, max(row)::DOUBLE AS last, count(*)::DOUBLE AS rows FROM (
       SELECT ${name}.rowid AS row FROM ${name} SEMI JOIN expiring
         ON key = "streamId" AND "timestamp" < make_timestamp(before_us)
       WHERE "timestamp" < make_timestamp(${latestUs}::BIGINT) LIMIT ${rowsPerPortion})`,
  )
  const { first, last, rows: wanted } = portion as Readonly<Record<string, number | null>>
  if (wanted === 0) return false
  const condition = `rowid BETWEEN ${first} AND ${last} AND ${isExpiring}`
  await writer.run('BEGIN')
  const found = await rowsOf(
    writer,
    `SELECT "streamId" AS key, count(*)::DOUBLE AS rows FROM ${name} WHERE ${condition} GROUP BY 1`,
  )
  const rows = new Map(found.map((row) => [Number(row['key']), Number(row['rows'])]))
  const { rowsChanged } = await writer.run(`DELETE FROM ${name} WHERE ${condition}`)
  const counted = countedOf(expiring, rows)
  const total = counted.reduce((sum, [, count]) => sum + count, 0)
  if (total !== rowsChanged) throw new Error(`${rowsChanged} rows expired, and ${total} counted`)
  const countRows = await addExpired(writer, counted)
  catalog.touch(table.name)
  await writer.run('COMMIT')
  catalog.countRows += countRows
  countExpired(counted)
  return wanted === rowsPerPortion
}

/**
 * Notes which streams have nothing left. Only those of which nothing was stored meanwhile: something that has come
 * late may be among it, and goes the next time. Neither those of which something waits to be looked up: what
 * says the same once more has to wait, too, and would be taken for new.
 */
export async function noteEnds(
  writer: DuckDBConnection,
  { catalog, late }: Contents,
  expiring: readonly Expiring[],
): Promise<void> {
  const ended = expiring.filter(
    ({ record, beforeUs, stored }) =>
      !record.hasLeft &&
      record.timestampMaxUs < beforeUs &&
      record.counts.stored === stored &&
      !late.has(record),
  )
  let rowsLess = 0
  await writer.run('BEGIN')
  for (const { record } of ended) rowsLess += await replaceCounts(writer, record, -1)
  await writer.run('COMMIT')
  catalog.countRows -= rowsLess
  for (const { record } of ended) {
    record.timestampMaxUs = -1
    // What comes next is stored, even if it says the same as what is not kept any more.
    record.newestContent = undefined
  }
  for (const { record, beforeUs } of expiring) record.expiredToUs = beforeUs
}

/** None of a table that has gone meanwhile. */
async function rowsUnlessGone(
  reader: DuckDBConnection,
  sql: string,
): Promise<readonly Readonly<Record<string, unknown>>[]> {
  try {
    return await rowsOf(reader, sql)
  } catch (error) {
    if (isTableMissing(error)) return []
    throw error
  }
}

function countedOf(
  expiring: readonly Expiring[],
  rows: ReadonlyMap<number, number>,
): readonly (readonly [StreamRecord, number])[] {
  return expiring.flatMap(({ record }) => {
    const count = rows.get(record.key)
    return count === undefined ? [] : [[record, count] as const]
  })
}

function countExpired(counted: Iterable<readonly [StreamRecord, number]>): void {
  for (const [record, count] of counted) {
    record.counts = { ...record.counts, expired: record.counts.expired + count }
  }
}

/** Makes the table of what is too old. */
export async function listExpiring(
  connection: DuckDBConnection,
  expiring: readonly Pick<Expiring, 'record' | 'beforeUs'>[],
): Promise<void> {
  await connection.run(expiringDdl)
  await appendColumns(connection, 'expiring', [
    new IntegerColumn(expiring.length).fill(expiring.map(({ record }) => record.key)),
    new BigIntColumn(expiring.length).fill(expiring.map(({ beforeUs }) => beforeUs)),
  ])
}
