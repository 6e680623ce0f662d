import type { DuckDBConnection } from '@duckdb/node-api'
import { storedWindow } from '../../windows/kept-rows.ts'
import type { StoredWindow, StoredWindows, StoredWindowsQuery } from '../../windows/window-store.ts'
import { type Catalog } from '../catalog.ts'
import { givenRows } from '../given-rows.ts'
import { rowsOf } from '../rows-of.ts'
import { windowsTable } from './window-catalog.ts'

/** Results in ascending time, and at one time by stream. */
export async function readWindows(
  connection: DuckDBConnection,
  catalog: Catalog,
  query: StoredWindowsQuery,
): Promise<StoredWindows['windows']> {
  const { streamIds, after, limit, endUs } = query
  const startUs = Math.max(query.startUs, after?.timestampUs ?? 0)
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
  const done = after ? streamIds.findLastIndex((id) => id <= after.streamId) : -1
  for (const month of catalog.windows.monthsOf(startUs, endUs)) {
    const rows = await rowsOf(
      connection,
      `SELECT s.place, start_us::DOUBLE AS start_us, count::DOUBLE AS count, revision,
         computed_at_us::DOUBLE AS computed_at_us, content
       FROM ${windowsTable(month)} JOIN ${streams} s ON "streamId" = s.key
       WHERE start_us >= ${startUs} AND start_us < ${endUs}
         AND (start_us > ${after?.timestampUs ?? -1} OR s.place > ${done})
       ORDER BY start_us, s.place LIMIT ${limit - windows.length}`,
    )
    for (const row of rows) {
      windows.push(storedWindow(streamIds[row['place'] as number] as string, row))
    }
    if (windows.length >= limit) break
  }
  return windows
}
