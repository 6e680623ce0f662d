import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/** The name that Linux shows of a thread of the pool, and of those that such a thread has made. */
const poolThreadName = 'libuv-worker'

/**
 * Lets the calling thread run only on what the other threads of the machine leave over, as far as it
 * has to share. Linux knows a priority of each thread (setpriority(2), "C library/kernel
 * differences"); elsewhere it is that of the process, and stays as it is.
 */
export function lowerThreadPriority(): void {
  if (process.platform !== 'linux') return
  // Reading this link tells the process and the thread that reads it: 123/task/125.
  lower(Number(readlinkSync('/proc/thread-self').split('/').at(-1)))
}

/**
 * Lowers the pool of threads that this process has for native work, as far as they have been
 * started, and the threads that these have started.
 */
export function lowerPoolPriority(): void {
  if (process.platform !== 'linux') return
  for (const thread of readdirSync('/proc/self/task')) {
    if (nameOf(thread) === poolThreadName) lower(Number(thread))
  }
}

function lower(thread: number): void {
  setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL)
}

function nameOf(thread: string): string {
  try {
    return readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim()
  } catch {
    // It has ended since.
    return ''
  }
}
