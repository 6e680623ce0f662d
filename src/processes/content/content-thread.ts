import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../../core/clock.ts'
import { lowerThreadPriority } from '../../core/threads/priority.ts'
import { serveCalls } from '../../core/threads/rpc.ts'
import type { ContentThreadData } from '../../files/content/content-contract.ts'
import { UploadTaker } from '../../files/content/upload-taker.ts'
import { openFileStore } from '../../files/store/open-file-store.ts'

/** Hashes and unpacks what was uploaded, and leaves the processor to all others. */
function run(port: MessagePort, data: ContentThreadData): void {
  lowerThreadPriority()
  // The network thread has cleared what a crash has left, and may be writing there by now.
  const opening = openFileStore({ ...data, clock: systemClock, clearsLeftovers: false })
  // A failure is the answer to whoever asks.
  opening.catch(() => undefined)
  serveCalls(port, new UploadTaker(opening).procedures)
}

if (parentPort) run(parentPort, workerData as ContentThreadData)
