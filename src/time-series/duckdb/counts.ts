import type { DuckDBConnection } from '@duckdb/node-api'
import type { CountChange } from '../stream-groups.ts'
import { noCounts } from '../stream-state.ts'
import type { StoredCounts } from '../time-series-store.ts'
import { appendColumns } from './append.ts'
import type { Catalog, StreamRecord } from './catalog.ts'
import { BigIntColumn, IntegerColumn, UnsignedBigIntColumn } from './columns.ts'

/** Rows of counts that may pile up beyond one per stream before they are summed up. */
const countRowsSlack = 50_000

/** A row that changes nothing about the newest reading. */
const nothingAdded = { ...noCounts, timestampMaxUs: -1, newestContent: undefined }

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
    const rows = changes.map(({ record, added, after }) => ({
      ...added,
      key: record.key,
      // In every row: of two with one newest time, either may be found.
      newestContent: after.newestContent,
    }))
    await append(writer, rows)
    return catalog.countRows + rows.length
  }
  const changed = new Map(changes.map(({ record, after }) => [record, after]))
  const rows = [...catalog.streams.values()].map((record) => {
    const { counts, timestampMaxUs, newestContent } = changed.get(record) ?? record
    return { ...counts, key: record.key, timestampMaxUs, newestContent }
  })
  await writer.run('DELETE FROM stream_counts')
  await append(writer, rows)
  return rows.length
}

/** Adds removed readings to the counts of a stream, within the transaction that removes them. */
export async function addDeleted(
  writer: DuckDBConnection,
  { key }: StreamRecord,
  deleted: number,
): Promise<void> {
  await append(writer, [{ ...nothingAdded, key, deleted }])
}

/** Adds expired readings to the counts of streams, within the transaction that removes them. */
export async function addExpired(
  writer: DuckDBConnection,
  expired: Iterable<readonly [record: StreamRecord, readings: number]>,
): Promise<number> {
  const rows = [...expired].map(([{ key }, count]) => ({ ...nothingAdded, key, expired: count }))
  await append(writer, rows)
  return rows.length
}

/** Notes from when on readings of streams are kept. */
export async function addKeptFrom(
  writer: DuckDBConnection,
  kept: Iterable<readonly [record: StreamRecord, keptFromUs: number]>,
): Promise<number> {
  const rows = [...kept].map(([{ key }, keptFromUs]) => ({ ...nothingAdded, key, keptFromUs }))
  await append(writer, rows)
  return rows.length
}

/**
 * Puts one row in the place of all those of a stream: the newest timestamp is the greatest of its rows, and
 * could not become older in any other way. Returns how many rows there are less.
 */
export async function replaceCounts(
  writer: DuckDBConnection,
  { key, counts }: StreamRecord,
  timestampMaxUs: number,
): Promise<number> {
  const { rowsChanged } = await writer.run(`DELETE FROM stream_counts WHERE "streamId" = ${key}`)
  await append(writer, [{ ...counts, key, timestampMaxUs, newestContent: undefined }])
  return rowsChanged - 1
}

/** What is appended for one stream. */
interface CountRow extends StoredCounts {
  readonly key: number
  readonly timestampMaxUs: number
  readonly newestContent: bigint | undefined
}

async function append(writer: DuckDBConnection, rows: readonly CountRow[]): Promise<void> {
  await appendColumns(writer, 'stream_counts', [
    new IntegerColumn(rows.length).fill(rows.map(({ key }) => key)),
    new BigIntColumn(rows.length).fill(rows.map(({ received }) => received)),
    new BigIntColumn(rows.length).fill(rows.map(({ stored }) => stored)),
    new BigIntColumn(rows.length).fill(rows.map(({ duplicates }) => duplicates)),
    new BigIntColumn(rows.length).fill(rows.map(({ latencyUs }) => latencyUs)),
    new BigIntColumn(rows.length).fill(rows.map(({ lastStoredAtUs }) => lastStoredAtUs)),
    new BigIntColumn(rows.length).fill(rows.map(({ timestampMaxUs }) => timestampMaxUs)),
    new BigIntColumn(rows.length).fill(rows.map(({ deleted }) => deleted)),
    new BigIntColumn(rows.length).fill(rows.map(({ unchanged }) => unchanged)),
    contentColumn(rows),
    new BigIntColumn(rows.length).fill(rows.map(({ expired }) => expired)),
    new BigIntColumn(rows.length).fill(rows.map(({ keptFromUs }) => keptFromUs)),
  ])
}

function contentColumn(rows: readonly CountRow[]): UnsignedBigIntColumn {
  const column = new UnsignedBigIntColumn(rows.length)
  for (const [row, { newestContent }] of rows.entries()) {
    if (newestContent === undefined) column.setNull(row)
    else column.set(row, newestContent)
  }
  return column
}
