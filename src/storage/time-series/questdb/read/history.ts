import { inOrder, placeBefore } from '../../raw-page.ts'
import {
  beforeAll,
  type HistoryPage,
  type HistoryQuery,
  type ReadingsCursor,
} from '../../readings-query.ts'
import { storedDigestOf } from './field-values.ts'
import { readRaw } from './raw-readings.ts'
import type { ReadSession } from './session.ts'
import { digestOrder, microseconds, ofStreams } from './statement.ts'

/** Bytes that one page takes in memory. */
const pageBytesMax = 256 * 1024

/** A page of readings together with the position at which they were all that there was. */
export async function readHistory(
  session: ReadSession,
  { streamId, after, limit }: HistoryQuery,
): Promise<HistoryPage> {
  const { points, next } = await readRaw(session, {
    streamId,
    after,
    limit,
    startUs: 0,
    endUs: Number.MAX_SAFE_INTEGER,
    fields: [],
    bytesMax: pageBytesMax,
  })
  return { points, next, position: session.position }
}

/** The place before the newest so many readings of a stream: before all when there are fewer. */
export async function placeBeforeNewest(
  session: ReadSession,
  { streamId, count }: { readonly streamId: string; readonly count: number },
): Promise<ReadingsCursor> {
  const newest: ReadingsCursor[] = []
  for (const { name } of session.tablesOf(streamId)) {
    const rows = await session.rows(
      `SELECT ${microseconds('"timestamp"')}, "$digest" FROM ${name}
       WHERE ${ofStreams([streamId])} AND ${session.visible}
       ORDER BY "timestamp" DESC, ${digestOrder('DESC')} LIMIT ${count}`,
    )
    for (const [time, digest] of rows) {
      newest.push({ timestampUs: Number(time), digest: storedDigestOf(digest) })
    }
  }
  newest.sort((left, right) => inOrder(right, left))
  const oldest = newest[count - 1]
  return oldest === undefined ? beforeAll : placeBefore(oldest)
}
