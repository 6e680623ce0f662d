import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/**
 * Lets the calling thread run only on what the other threads of the machine leave over, as far as it
 * has to share. Linux knows a priority of each thread (setpriority(2), "C library/kernel
 * differences"); elsewhere it is that of the process, and stays as it is.
 */
export function lowerThreadPriority(): void {
  if (process.platform !== 'linux') return
  // Reading this link tells the process and the thread that reads it: 123/task/125.
  const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL)
}
