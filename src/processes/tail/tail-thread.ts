import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { lowerThreadPriority } from '../../core/threads/priority.ts'
import { serveCalls } from '../../core/threads/rpc.ts'
import { JournalEntriesAt } from '../../reading/live/entries-at.ts'
import { JournalSlices } from '../../reading/live/journal-slices.ts'
import type { TailProcedures, TailThreadData } from '../../reading/live/tail-contract.ts'
import { SqliteJournalReader } from '../../storage/journal/sqlite-journal.ts'

/**
 * Reads the journal for those who follow streams, and for receipts, apart from the threads that keep and process
 * readings, and only what it is asked for.
 */
function run(port: MessagePort, { journalPath }: TailThreadData): void {
  // Acknowledgements go before: who follows sees what is on disk.
  lowerThreadPriority()
  const journal = new SqliteJournalReader(journalPath)
  const slices = new JournalSlices(journal)
  const entries = new JournalEntriesAt(journal)
  const procedures: TailProcedures = {
    covers: (offset) => slices.covers(offset),
    slice: (request) => slices.slice(request),
    noteEntries: (until) => entries.note(until),
    entriesAt: (request) => entries.find(request),
  }
  serveCalls(port, procedures)
}

if (parentPort) run(parentPort, workerData as TailThreadData)
