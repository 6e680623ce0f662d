import { expect, test } from 'vitest'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { JournalTails } from '../../src/reading/live/journal-tails.ts'
import { SqliteJournalFile } from '../../src/storage/journal/sqlite-journal.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'
import { acceptedReading, anyStream } from '../support/written-entries.ts'

/** Entries of one batch, and batches that are more than the thread looks at in one step. */
const entries = 1_000
const batches = 50

function append(file: SqliteJournalFile, times: number): void {
  for (let batch = 0; batch < times; batch++) {
    const writer = new EntryWriter()
    for (let entry = 0; entry < entries; entry++) writer.accepted(anyStream, acceptedReading(), 1)
    const { bytes, count } = writer.take()
    file.append(bytes, count)
  }
}

test('knows the end of a journal that has become long while nobody followed', async () => {
  using folder = new TemporaryFolder()
  const file = new SqliteJournalFile(folder.file('journal.db'), 1024 ** 3)
  const tails = new JournalTails({ journalPath: folder.file('journal.db') }, () => {})
  append(file, 1)
  await tails.end()
  append(file, batches)

  await tails.assertCovers((1 + batches) * entries)
  append(file, batches)
  expect(await tails.end()).toBe((1 + 2 * batches) * entries)

  await tails.close()
  file.close()
})
