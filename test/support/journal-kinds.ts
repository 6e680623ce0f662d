import { EntryReader } from '../../src/ingest/pipeline/entry-reader.ts'
import { SqliteJournalReader } from '../../src/storage/journal/sqlite-journal.ts'

/** The kinds of all entries of the journal in a file, as far as it is not trimmed. */
export function kindsIn(path: string): ReadonlySet<number> {
  const reader = new SqliteJournalReader(path)
  const kinds = new Set<number>()
  for (const { bytes } of reader.read(0, Number.MAX_SAFE_INTEGER)) {
    const entry = new EntryReader(bytes)
    while (entry.next()) kinds.add(entry.kind)
  }
  reader.close()
  return kinds
}
