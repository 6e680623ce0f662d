import type { DuckDBConnection } from '@duckdb/node-api'
import { type CountChange, stateAfter } from '../stream-groups.ts'
import type { StoredCounts } from '../time-series-store.ts'
import { appendColumns } from './append.ts'
import { type Catalog, departedKey, type StreamRecord } from './catalog.ts'
import { BigIntColumn, type Column, IntegerColumn, UnsignedBigIntColumn } from './columns.ts'

/** Rows of counts that may pile up beyond one per stream before they are summed up. */
const countRowsSlack = 50_000

/**
 * Appends what was added, within the transaction of the rows; now and then one row per stream takes
 * the place of them all. Returns how many rows there are then.
 */
export async function writeCounts(
  writer: DuckDBConnection,
  catalog: Catalog,
  changes: readonly CountChange<StreamRecord>[],
): Promise<number> {
  const compact = catalog.countRows + changes.length > catalog.streams.size + countRowsSlack
  if (!compact) {
    // The newest content stands in every row: of two with one newest time, either may be found.
    await append(writer, changes)
    return catalog.countRows + changes.length
  }
  const changed = new Map(changes.map((change) => [change.record, change]))
  const rows = [...catalog.streams.values()].map((record) => {
    const change = changed.get(record)
    const { counts, timestampMaxUs, newestContent } = change ? stateAfter(change) : record
    return { record, ...counts, timestampMaxUs, newestContent }
  })
  await writer.run('DELETE FROM stream_counts')
  const all = [...rows, { record: departedRecord, ...catalog.departed, ...nothingStored }]
  await append(writer, all)
  return all.length
}

/**
 * Puts one row in the place of those of streams that leave, within the transaction in which they do. Returns how
 * many rows there are less.
 *
 * @param departed what was counted of all that have left, these included
 */
export async function moveToDeparted(
  writer: DuckDBConnection,
  keys: string,
  departed: StoredCounts,
): Promise<number> {
  const { rowsChanged } = await writer.run(
    `DELETE FROM stream_counts WHERE "streamId" = ${departedKey} OR "streamId" IN ${keys}`,
  )
  await append(writer, [{ record: departedRecord, ...departed, ...nothingStored }])
  return rowsChanged - 1
}

const departedRecord = { key: departedKey }

/** Adds removed readings to the counts of a stream, within the transaction that removes them. */
export async function addDeleted(
  writer: DuckDBConnection,
  record: StreamRecord,
  deleted: number,
): Promise<void> {
  await append(writer, [{ record, ...nothingStored, deleted }])
}

/** Adds expired readings to the counts of streams, within the transaction that removes them. */
export async function addExpired(
  writer: DuckDBConnection,
  expired: Iterable<readonly [record: StreamRecord, readings: number]>,
): Promise<number> {
  const rows = [...expired].map(([record, count]) => {
    return { record, ...nothingStored, expired: count }
  })
  await append(writer, rows)
  return rows.length
}

/** Notes from when on readings of streams are kept. */
export async function addKeptFrom(
  writer: DuckDBConnection,
  kept: Iterable<readonly [record: StreamRecord, keptFromUs: number]>,
): Promise<number> {
  const rows = [...kept].map(([record, keptFromUs]) => {
    return { record, ...nothingStored, keptFromUs }
  })
  await append(writer, rows)
  return rows.length
}

/**
 * Puts one row in the place of all those of a stream: the newest timestamp is the greatest of its rows, and
 * could not become older in any other way. Returns how many rows there are less.
 */
export async function replaceCounts(
  writer: DuckDBConnection,
  record: StreamRecord,
  timestampMaxUs: number,
): Promise<number> {
  const { key, counts } = record
  const { rowsChanged } = await writer.run(`DELETE FROM stream_counts WHERE "streamId" = ${key}`)
  await append(writer, [{ record, ...counts, timestampMaxUs }])
  return rowsChanged - 1
}

/** What is appended for one stream. What is not said is 0. */
type CountRow = Readonly<Partial<Record<CountColumn, number>>> & {
  readonly record: Pick<StreamRecord, 'key'>
  readonly timestampMaxUs: number
  readonly newestContent?: bigint | undefined
}

/** What a row says that changes nothing about the newest reading. */
const nothingStored = { timestampMaxUs: -1 }

async function append(writer: DuckDBConnection, rows: readonly CountRow[]): Promise<void> {
  const count = rows.length
  const keys = new IntegerColumn(count)
  const newestContents = new UnsignedBigIntColumn(count)
  const columns = countColumns.map((name) => ({ name, column: new BigIntColumn(count) }))
  let index = 0
  for (const row of rows) {
    const { record, newestContent } = row
    keys.set(index, record.key)
    for (const { name, column } of columns) column.set(index, row[name] ?? 0)
    if (newestContent === undefined) newestContents.setNull(index)
    else newestContents.set(index, newestContent)
    index++
  }
  const all: Column[] = columns.map(({ column }) => column)
  await appendColumns(writer, 'stream_counts', [keys, ...all.toSpliced(8, 0, newestContents)])
}

/** In the order of the table's DDL, where the newest content stands behind the first eight. */
const countColumns = [
  'received',
  'stored',
  'duplicates',
  'latencyUs',
  'lastStoredAtUs',
  'timestampMaxUs',
  'deleted',
  'unchanged',
  'expired',
  'keptFromUs',
] as const

type CountColumn = (typeof countColumns)[number]
