import type { Candidate } from '../../rollups/candidates.ts'
import { rollupWidthUs } from '../../rollups/rollup-width.ts'
import { floorTo } from '../../windows/window-starts.ts'
import type { ReadSession } from '../read/session.ts'
import { ofStreams, piecesOf, streamsPerStatement, within } from '../read/statement.ts'

/** How much of a stream is looked at: about a month, that of its newest reading. */
const lookedAtUs = 30 * 86_400_000_000

export interface DensityQuestion {
  readonly candidates: readonly Candidate[]
  readonly perRowMin: number
}

/** Picks the streams of which one half hour has many readings. */
export async function denseStreams(
  session: ReadSession,
  { candidates, perRowMin }: DensityQuestion,
): Promise<readonly Candidate[]> {
  const readings = new Map<string, number>()
  const halfHours = new Map<string, number>()
  const byMonth = Map.groupBy(candidates, ({ record }) =>
    floorTo(record.timestampMaxUs, lookedAtUs),
  )
  for (const [fromUs, own] of byMonth) {
    const range = { fromUs, toUs: fromUs + lookedAtUs }
    for (const [table, ids] of tablesOf(session, own)) {
      for (const some of piecesOf(ids, streamsPerStatement)) {
        const rows = await session.rows(
          `SELECT "streamId", sum(n), count() FROM (
             SELECT "streamId", cast("timestamp" AS LONG) / ${rollupWidthUs} AS b, count() AS n
             FROM ${table} WHERE ${ofStreams(some)} AND ${within(range)} AND ${session.visible})`,
        )
        for (const [id, count, rowCount] of rows) {
          readings.set(String(id), (readings.get(String(id)) ?? 0) + Number(count))
          halfHours.set(String(id), (halfHours.get(String(id)) ?? 0) + Number(rowCount))
        }
      }
    }
  }
  return candidates.filter(({ id }) => {
    const count = readings.get(id) ?? 0
    return count > 0 && count >= perRowMin * (halfHours.get(id) ?? 0)
  })
}

function tablesOf(
  session: ReadSession,
  candidates: readonly Candidate[],
): ReadonlyMap<string, readonly string[]> {
  const tables = new Map<string, string[]>()
  for (const { id } of candidates) {
    for (const { name } of session.tablesOf(id)) tables.set(name, [...(tables.get(name) ?? []), id])
  }
  return tables
}
