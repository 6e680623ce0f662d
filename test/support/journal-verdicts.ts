import { EntryReader } from '../../src/ingest/pipeline/entry-reader.ts'
import { SqliteJournalReader } from '../../src/storage/journal/sqlite-journal.ts'

/** The verdicts of all entries of the journal in a file, as far as it is not trimmed. */
export function verdictsIn(path: string): ReadonlySet<number> {
  const reader = new SqliteJournalReader(path)
  const verdicts = new Set<number>()
  for (const { bytes } of reader.read(0, Number.MAX_SAFE_INTEGER)) {
    const entry = new EntryReader(bytes)
    while (entry.next()) verdicts.add(entry.verdict)
  }
  reader.close()
  return verdicts
}
