import type { JournalBatch, Offset } from './journal.ts'
import { openForWriting } from './sqlite-journal.ts'

/** Rows of one transaction: as a file that nobody uses yet, it is written as a whole or thrown away. */
const rowsPerTransaction = 1_000

/**
 * Writes a new file of the journal with batches of another one, each under its own offset. Resolves with
 * the offset that the next entry will get.
 */
export async function rebuildJournal(
  path: string,
  batches: AsyncIterable<JournalBatch>,
): Promise<Offset> {
  const database = openForWriting(path)
  try {
    const insert = database.prepare(
      'INSERT INTO batches (first_offset, entries, bytes, payload) VALUES (?, ?, ?, ?)',
    )
    let head = 0
    let rows = 0
    database.exec('BEGIN')
    for await (const { firstOffset, count, bytes } of batches) {
      if (firstOffset < head) throw new Error(`the batch at ${firstOffset} comes after ${head}`)
      insert.run(firstOffset, count, bytes.byteLength, bytes)
      head = firstOffset + count
      if (++rows % rowsPerTransaction === 0) database.exec('COMMIT; BEGIN')
    }
    database.exec('COMMIT')
    return head
  } finally {
    database.close()
  }
}
