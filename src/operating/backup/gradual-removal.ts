import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../../core/clock.ts'

/** Bytes of a file that are given back to the disk at once. */
const stepBytes = 1024 * 1024

/**
 * Removes a large file piece by piece, with rests in between. Many file systems tell the disk of the blocks that have
 * become free while they commit (ext4(5), `discard`), and whoever syncs meanwhile waits: for a file of 300 MB that
 * was 0.3 s, and the journal of readings syncs all the time.
 */
export async function removeGradually(path: string): Promise<void> {
  const file = openSync(path, 'r+')
  try {
    for (let left = fstatSync(file).size; left > 0; ) {
      const startedMs = monotonicMs()
      left = Math.max(0, left - stepBytes)
      ftruncateSync(file, left)
      fsyncSync(file)
      await sleep(monotonicMs() - startedMs)
    }
  } finally {
    closeSync(file)
  }
  rmSync(path)
}
