import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { reportFaults } from '../../core/threads/faults.ts'
import { serveCalls } from '../../core/threads/rpc.ts'
import type {
  SessionsProcedures,
  SessionsThreadData,
} from '../../ingest/mqtt-sessions/sessions-contract.ts'
import { SqliteSessionsFile } from '../../ingest/mqtt-sessions/sessions-file.ts'

/** How often free pages of the file go back to the disk, a few at a time. */
const giveBackMs = 1_000

function run(port: MessagePort, { path }: SessionsThreadData): void {
  const file = new SqliteSessionsFile(path)
  const timer = setInterval(() => file.giveBackSpace(), giveBackMs)
  const procedures: SessionsProcedures = {
    load: () => file.load(),
    apply: (changes) => file.apply(changes),
    close: () => {
      clearInterval(timer)
      file.close()
    },
  }
  reportFaults(port)
  serveCalls(port, procedures)
}

if (parentPort) run(parentPort, workerData as SessionsThreadData)
