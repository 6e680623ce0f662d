import type { Range } from '../../../aggregation/point-reader.ts'
import type { ReadSession } from '../session.ts'
import { microseconds, ofStreams, within } from '../statement.ts'
import type { Source } from './selection.ts'

/** When the first of the readings in a range was; the end of the range when there is none. */
export async function firstUsOf(
  session: ReadSession,
  sources: readonly Source[],
  range: Range,
): Promise<number> {
  let firstUs = range.toUs
  for (const { shape, streams } of sources) {
    const [row] = await session.rows(
      `SELECT ${microseconds('"timestamp"')} FROM ${session.tableOf(shape).name}
       WHERE ${ofStreams([...streams.keys()])} AND ${within({ ...range, toUs: firstUs })}
         AND ${session.visible} ORDER BY "timestamp" LIMIT 1`,
    )
    if (row) firstUs = Number(row[0])
  }
  return firstUs
}
