import type { DuckDBConnection } from '@duckdb/node-api'
import { adoptTouches } from '../../rollups/rollup-touches.ts'
import { adopt, type CountChange } from '../../stream-groups.ts'
import { adoptChanges, type WindowChange } from '../../windows/window-changes.ts'
import { TouchedWindows } from '../../windows/window-starts.ts'
import { appendColumns } from '../append.ts'
import { type Catalog, quoted, type StreamRecord } from '../catalog.ts'
import { BigIntColumn, IntegerColumn } from '../columns.ts'
import { writeCounts } from '../counts.ts'
import { lateTouches, writeTouches } from '../rollups/mark-rollups.ts'
import { rowsOf } from '../rows-of.ts'
import { createMonth } from '../shipment-rows.ts'
import { writeMarks } from '../windows/mark-windows.ts'
import type { LateTable, LateTables } from './late-tables.ts'
import type { LateDuplicates } from './look-up.ts'

const duplicatesDdl = `CREATE OR REPLACE TEMP TABLE late_duplicates (source INTEGER, row BIGINT)`

/** Rows of a late table that were found to be none. */
const isDuplicate = (at: number) =>
  `EXISTS (SELECT 1 FROM late_duplicates d WHERE d.source = ${at} AND d.row = l.rowid)`

interface Placing {
  readonly catalog: Catalog
  readonly lateTables: LateTables
  readonly tables: readonly LateTable[]
  readonly duplicates: LateDuplicates
  readonly nowUs: number
}

/**
 * Stores the late readings of some tables that are no duplicates, and counts all of them, in one
 * transaction. Must be called while nobody else writes.
 */
export async function placeLate(
  writer: DuckDBConnection,
  { catalog, lateTables, tables, duplicates, nowUs }: Placing,
): Promise<void> {
  const moves = tables.map((late, at) => ({ late, at }))
  await noteDuplicates(writer, moves, duplicates)
  const months: Month[] = []
  for (const { late, at } of moves) months.push(...(await monthsOf(writer, catalog, { late, at })))

  await writer.run('BEGIN')
  for (const { late, at, month, target } of months) {
    const { rowsChanged } = await writer.run(
      `INSERT INTO ${quoted(target)} SELECT l.* FROM ${quoted(late.name)} l
       WHERE year(l."timestamp") * 100 + month(l."timestamp") = ${month} AND NOT ${isDuplicate(at)}`,
    )
    const table = catalog.tables.get(target)
    if (table) table.rows += rowsChanged
    catalog.touch(target)
  }
  const counted = new Map<number, Counted>()
  for (const move of moves) await countRows(writer, move, { counted, nowUs })
  const changes = changesOf(catalog, counted, nowUs)
  const countRowsNow = await writeCounts(writer, catalog, changes)
  const marked = await touchedWindows(writer, catalog, moves)
  await writeMarks(writer, marked)
  const names = tables.map(({ name }) => name)
  const rolledUp = await lateTouches(writer, catalog, names)
  await writeTouches(writer, rolledUp)
  for (const { late } of moves) await writer.run(`DROP TABLE ${quoted(late.name)}`)
  await writer.run('COMMIT')

  for (const change of changes) {
    const { record, stored } = change
    adopt(change)
    record.rate.add(stored)
    lateTables.placed(record, stored + change.duplicates)
  }
  adoptChanges(catalog.windows, marked)
  adoptTouches(rolledUp)
  catalog.countRows = countRowsNow
  lateTables.gone(tables)
}

async function noteDuplicates(
  writer: DuckDBConnection,
  moves: readonly Move[],
  found: LateDuplicates,
): Promise<void> {
  const all = moves.flatMap(({ late, at }) => {
    const rows = found.get(late)
    if (!rows) throw new Error(`${late.name} was not looked up`)
    return rows.map((row) => ({ at, row }))
  })
  await writer.run(duplicatesDdl)
  await appendColumns(writer, 'late_duplicates', [
    new IntegerColumn(all.length).fill(all.map(({ at }) => at)),
    new BigIntColumn(all.length).fill(all.map(({ row }) => row)),
  ])
}

/** A table, and its place among all that are placed together. */
interface Move {
  readonly late: LateTable
  readonly at: number
}

interface Month extends Move {
  readonly month: number
  readonly target: string
}

/** Where the rows of a late table belong: the tables are made when they are missing. */
async function monthsOf(
  writer: DuckDBConnection,
  catalog: Catalog,
  { late, at }: Move,
): Promise<readonly Month[]> {
  const shape = catalog.shapes.get(late.shape)
  if (!shape) throw new Error(`the time-series file knows no shape ${late.shape}`)
  const found = await rowsOf(
    writer,
    `SELECT DISTINCT year(l."timestamp") * 100 + month(l."timestamp") AS month
     FROM ${quoted(late.name)} l WHERE NOT ${isDuplicate(at)}`,
  )
  const months: Month[] = []
  for (const row of found) {
    const month = Number(row['month'])
    const target = await createMonth(writer, catalog, { shape, month })
    months.push({ late, at, month, target })
  }
  return months
}

interface Counted {
  stored: number
  duplicates: number
  latencyUs: number
  /** The newest timestamp of what is stored; -1 for nothing. */
  timestampMaxUs: number
}

async function countRows(
  writer: DuckDBConnection,
  { late, at }: Move,
  { counted, nowUs }: { readonly counted: Map<number, Counted>; readonly nowUs: number },
): Promise<void> {
  const rows = await rowsOf(
    writer,
    `SELECT key, (count(*) FILTER (NOT twice))::DOUBLE AS stored,
       (count(*) FILTER (twice))::DOUBLE AS duplicates,
       coalesce(sum(greatest(0, ${nowUs}::BIGINT - received)) FILTER (NOT twice), 0)::DOUBLE AS latency,
       coalesce(max(epoch_us("timestamp")) FILTER (NOT twice), -1)::DOUBLE AS newest
     FROM (SELECT l."streamId" AS key, l."timestamp", epoch_us(l."$receivedAt") AS received,
         ${isDuplicate(at)} AS twice
       FROM ${quoted(late.name)} l)
     GROUP BY key`,
  )
  for (const row of rows) {
    const key = row['key'] as number
    const before = counted.get(key) ?? {
      stored: 0,
      duplicates: 0,
      latencyUs: 0,
      timestampMaxUs: -1,
    }
    counted.set(key, {
      stored: before.stored + (row['stored'] as number),
      duplicates: before.duplicates + (row['duplicates'] as number),
      latencyUs: before.latencyUs + (late.isRedriven ? 0 : (row['latency'] as number)),
      timestampMaxUs: Math.max(before.timestampMaxUs, row['newest'] as number),
    })
  }
}

function changesOf(
  catalog: Catalog,
  counted: ReadonlyMap<number, Counted>,
  nowUs: number,
): readonly CountChange<StreamRecord>[] {
  return [...catalog.streams].flatMap(([id, record]) => {
    const found = counted.get(record.key)
    if (!found) return []
    const { counts, newestContent } = record
    const lastStoredAtUs = found.stored > 0 ? nowUs : counts.lastStoredAtUs
    const added = { ...found, received: 0, unchanged: 0, lastStoredAtUs }
    return [{ id, record, ...added, newestContent }]
  })
}

type Touching = Omit<WindowChange<StreamRecord>, 'touched'> & { touched: TouchedWindows }

/**
 * The windows of late readings have been marked when they arrived, and may have been computed without
 * them since.
 */
async function touchedWindows(
  writer: DuckDBConnection,
  catalog: Catalog,
  moves: readonly Move[],
): Promise<readonly WindowChange<StreamRecord>[]> {
  const changes = new Map<number, Touching>()
  for (const [id, windows] of catalog.windows.streams) {
    const record = catalog.streams.get(id)
    if (!record) continue
    const { segments } = windows
    const touched = new TouchedWindows(segments)
    changes.set(record.key, { id, record, windows, segments, touched })
  }
  if (changes.size === 0) return []
  for (const { late } of moves) {
    const result = await writer.stream(
      `SELECT "streamId", epoch_us("timestamp")::DOUBLE FROM ${quoted(late.name)}`,
    )
    for await (const rows of result.yieldRowsJs()) {
      for (const [key, timestampUs] of rows) {
        changes.get(key as number)?.touched.add(timestampUs as number)
      }
    }
  }
  return [...changes.values()]
    .map((change) => {
      return { ...change, touched: change.windows.marks.filled(change.touched.ranges()) }
    })
    .filter(({ touched }) => touched.length > 0)
}
