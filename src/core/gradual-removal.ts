import { open, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from './clock.ts'

/** Bytes of a file that are given back to the disk at once. */
const stepBytes = 1024 * 1024

/**
 * Removes a large file piece by piece, with rests in between. Many file systems tell the disk of the blocks that have
 * become free while they commit (ext4(5), `discard`), and whoever syncs meanwhile waits: for a file of 300 MB that
 * was 0.3 s, and the journal of readings syncs all the time. When the signal says to stop, what is left of the file stays.
 */
export async function removeGradually(path: string, signal?: AbortSignal): Promise<void> {
  const file = await open(path, 'r+')
  try {
    for (let left = (await file.stat()).size; left > 0; ) {
      if (signal?.aborted === true) return
      const startedMs = monotonicMs()
      left = Math.max(0, left - stepBytes)
      await file.truncate(left)
      await file.sync()
      await sleep(monotonicMs() - startedMs)
    }
  } finally {
    await file.close()
  }
  await rm(path)
}
