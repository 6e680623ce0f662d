import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { reportFaults } from '../../core/threads/faults.ts'
import { serveCalls } from '../../core/threads/rpc.ts'
import type { Offset } from '../../storage/journal/journal.ts'
import type {
  JournalProcedures,
  JournalThreadData,
} from '../../storage/journal/journal-contract.ts'
import { SqliteJournalFile } from '../../storage/journal/sqlite-journal.ts'

function announceHead(followers: readonly MessagePort[], head: Offset): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port, not a window
  for (const follower of followers) follower.postMessage(head)
}

/** The journal's thread: fsync blocks it, and nothing else. */
function run(port: MessagePort, data: JournalThreadData): void {
  const { path, bytesMax, retainedBytes, followers } = data
  const file = new SqliteJournalFile(path, bytesMax, retainedBytes)
  const procedures: JournalProcedures = {
    append({ bytes, count }) {
      const first = file.append(bytes, count)
      announceHead(followers, first + count)
      return first
    },
    async trim(below) {
      // Between two portions the event loop runs, so that waiting appends go first.
      while (file.trim(below)) await new Promise(setImmediate)
    },
    status: () => file.status(),
    close() {
      file.close()
      for (const follower of followers) follower.close()
    },
  }
  reportFaults(port)
  serveCalls(port, procedures)
}

if (parentPort) run(parentPort, workerData as JournalThreadData)
