import type { DatabaseSync } from 'node:sqlite'
import type {
  RefusedReadingNote,
  RefusedReadingsPage,
  RefusedReadingsQuery,
} from '../refused-readings.ts'
import type { RefusedReading } from './write-rows.ts'

/** Refused readings that are kept, of all streams: the newest. They are counted all the same. */
const refusedMax = 10_000

export const refusedDdl = `
  CREATE TABLE IF NOT EXISTS refused_readings (
    entry INTEGER PRIMARY KEY, stream TEXT NOT NULL, timestamp INTEGER NOT NULL,
    reading TEXT NOT NULL, message TEXT NOT NULL
  ) STRICT;
`

/** Readings that QuestDB did not take, and why. */
export class RefusedTable {
  readonly #database: DatabaseSync

  constructor(database: DatabaseSync) {
    this.#database = database
  }

  read({ streamId, after, limit, bytesMax }: RefusedReadingsQuery): RefusedReadingsPage {
    const readings: RefusedReadingNote[] = []
    let bytes = 0
    const rows = this.#database
      .prepare('SELECT * FROM refused_readings WHERE stream = ? AND entry > ? ORDER BY entry')
      .iterate(streamId, after)
    for (const row of rows) {
      const values = String(row['reading'])
      bytes += Buffer.byteLength(values)
      const isFull = readings.length === limit || bytes > bytesMax
      if (isFull && readings.length > 0) return { readings, hasMore: true }
      const [entry, timestampUs] = [Number(row['entry']), Number(row['timestamp'])]
      readings.push({ entry, timestampUs, values, message: String(row['message']) })
    }
    return { readings, hasMore: false }
  }

  /** To be called in a transaction. */
  keep(refused: readonly RefusedReading[]): void {
    const insert = this.#database.prepare(
      'INSERT OR REPLACE INTO refused_readings VALUES (?, ?, ?, ?, ?)',
    )
    for (const { reading, message } of refused) {
      const { offset, streamId, timestampUs, values } = reading
      insert.run(offset, streamId, timestampUs, values, message)
    }
    this.#database.exec(
      `DELETE FROM refused_readings WHERE entry NOT IN (
         SELECT entry FROM refused_readings ORDER BY entry DESC LIMIT ${refusedMax})`,
    )
  }
}
