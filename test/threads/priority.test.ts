import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

/** The nice value of a thread of this process: field 19 of proc_pid_stat(5). */
function nicenessOf(thread: string): number {
  const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
}

test.runIf(process.platform === 'linux')('lowers the calling thread, and no other', async () => {
  const before = nicenessOf(String(process.pid))
  const module = new URL('../../src/threads/priority.ts', import.meta.url).href
  const worker = new Worker(
    `import { readlinkSync } from 'node:fs'
     import { parentPort } from 'node:worker_threads'
     import { lowerThreadPriority } from ${JSON.stringify(module)}
     lowerThreadPriority()
     parentPort.postMessage(readlinkSync('/proc/thread-self').split('/').at(-1))
     setInterval(() => {}, 1_000)`,
    { eval: true },
  )
  const [thread] = (await once(worker, 'message')) as [string]
  const niceness = nicenessOf(thread)
  await worker.terminate()

  expect(niceness).toBe(constants.priority.PRIORITY_BELOW_NORMAL)
  expect(nicenessOf(String(process.pid))).toBe(before)
})
