import { type ChildProcess, spawn } from 'node:child_process'
import { openSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Time for the first answer, on a machine that is busy, with a log of changes to go through. */
const startMs = 60_000

export interface ServerCommand {
  /** For a person who reads that it could not be started. */
  readonly name: string
  readonly command: readonly [program: string, ...args: string[]]
  readonly environment?: Readonly<Record<string, string>>
  /** What it prints goes to the file `log` there. */
  readonly folder: string
  /** Whether it goes on when this process ends. */
  readonly outlives: boolean
  readonly isReady: () => Promise<boolean>
}

/**
 * Starts a server, and resolves when it answers.
 *
 * @throws Error when it ends before, or takes too long
 */
export async function runServer(server: ServerCommand): Promise<ChildProcess> {
  const { name, command, environment, folder, outlives, isReady } = server
  const [program, ...args] = command
  const log = openSync(join(folder, 'log'), 'a')
  const child = spawn(program, args, {
    stdio: ['ignore', log, log],
    detached: outlives,
    env: { ...process.env, ...environment },
  })
  if (outlives) child.unref()
  child.once('error', () => undefined)
  const deadlineMs = performance.now() + startMs
  while (!(await isReady())) {
    const hasEnded = child.pid === undefined || child.exitCode !== null || child.signalCode !== null
    if (hasEnded) throw new Error(`${name} ended at its start: see ${folder}/log`)
    if (performance.now() > deadlineMs) {
      child.kill('SIGKILL')
      throw new Error(`${name} does not answer: see ${folder}/log`)
    }
    await sleep(50)
  }
  return child
}
