import { readFileSync } from 'node:fs'

/** USER_HZ, which is 100 on every Linux that there is (proc(5)). */
const ticksPerSecond = 100

/** What a process has taken of the processor until now, with all its threads, in seconds. */
export function cpuSecondsOf(pid: number): number {
  // The name of the process comes before, in brackets.
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user, system] = fields.split(' ').slice(11, 13)
  return (Number(user) + Number(system)) / ticksPerSecond
}
