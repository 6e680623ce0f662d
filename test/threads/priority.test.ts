import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'

const run = promisify(execFile)

/** The nice value of a thread of this process: field 19 of proc_pid_stat(5). */
function nicenessOf(thread: string): number {
  const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
}

test.runIf(process.platform === 'linux')('lowers the calling thread, and no other', async () => {
  const before = nicenessOf(String(process.pid))
  const module = new URL('../../src/core/threads/priority.ts', import.meta.url).href
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

test.runIf(process.platform === 'linux')('lowers the pool of threads for native work', async () => {
  const module = new URL('../../src/core/threads/priority.ts', import.meta.url).href
  const program = `
    import { readdirSync, readFileSync } from 'node:fs'
    import { readFile } from 'node:fs/promises'
    import { lowerPoolPriority } from ${JSON.stringify(module)}
    await readFile('/proc/self/comm')
    lowerPoolPriority()
    const stats = readdirSync('/proc/self/task').map((thread) =>
      readFileSync('/proc/self/task/' + thread + '/stat', 'utf8'))
    const niceness = (stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])
    const pool = stats.filter((stat) => stat.includes('(libuv-worker)'))
    const others = stats.filter((stat) => !stat.includes('(libuv-worker)'))
    console.log(JSON.stringify([pool, others].map((some) => [...new Set(some.map(niceness))])))`
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program])
  const [pool, others] = JSON.parse(stdout) as [number[], number[]]

  expect(pool).toEqual([constants.priority.PRIORITY_BELOW_NORMAL])
  expect(others).toEqual([nicenessOf(String(process.pid))])
})
