import type { DuckDBConnection } from '@duckdb/node-api'
import { storedWindow } from '../../windows/kept-rows.ts'
import type {
  StoredWindow,
  StoredWindows,
  StoredWindowsQuery,
  WindowCursor,
} from '../../windows/window-store.ts'
import { type Catalog } from '../catalog.ts'
import { givenRows } from '../given-rows.ts'
import { rowsOf } from '../rows-of.ts'
import { windowsTable } from './window-catalog.ts'

/** Results in the order of time, and at one time by stream. */
export async function readWindows(
  connection: DuckDBConnection,
  catalog: Catalog,
  query: StoredWindowsQuery,
): Promise<StoredWindows['windows']> {
  const { streamIds, after, limit, order = 'asc' } = query
  const { startUs, endUs } = rangeBehind(query)
  const known = streamIds.flatMap((id, place) => {
    const key = catalog.streams.get(id)?.key
    return key === undefined ? [] : [{ key, place }]
  })
  const windows: StoredWindow[] = []
  if (known.length === 0 || startUs >= endUs) return windows
  const streams = givenRows({
    key: { type: 'INTEGER', values: known.map(({ key }) => key) },
    place: { type: 'INTEGER', values: known.map(({ place }) => place) },
  })
  const months = catalog.windows.monthsOf(startUs, endUs)
  for (const month of order === 'desc' ? months.toReversed() : months) {
    const rows = await rowsOf(
      connection,
      `SELECT s.place, start_us::DOUBLE AS start_us, count::DOUBLE AS count, revision,
         computed_at_us::DOUBLE AS computed_at_us, content
       FROM ${windowsTable(month)} JOIN ${streams} s ON "streamId" = s.key
       WHERE start_us >= ${startUs} AND start_us < ${endUs}
         ${after === undefined ? '' : `AND (${isBehind(query, after)})`}
       ORDER BY start_us ${order}, s.place ${order} LIMIT ${limit - windows.length}`,
    )
    for (const row of rows) {
      windows.push(storedWindow(streamIds[row['place'] as number] as string, row))
    }
    if (windows.length >= limit) break
  }
  return windows
}

/** The part of a range that is not before its cursor. */
function rangeBehind({ startUs, endUs, order, after }: StoredWindowsQuery) {
  if (after === undefined) return { startUs, endUs }
  return order === 'desc'
    ? { startUs, endUs: Math.min(endUs, after.timestampUs + 1) }
    : { startUs: Math.max(startUs, after.timestampUs), endUs }
}

/** Condition for what is behind the cursor. */
function isBehind({ streamIds, order }: StoredWindowsQuery, after: WindowCursor): string {
  const { timestampUs, streamId } = after
  if (order !== 'desc') {
    const done = streamIds.findLastIndex((id) => id <= streamId)
    return `start_us > ${timestampUs} OR s.place > ${done}`
  }
  const first = streamIds.findIndex((id) => id >= streamId)
  return `start_us < ${timestampUs} OR s.place < ${first === -1 ? streamIds.length : first}`
}
