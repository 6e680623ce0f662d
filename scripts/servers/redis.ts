import type { ChildProcess } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { Redis } from 'ioredis'
import { type DevelopmentServer, runningAt } from './development-server.ts'
import { installedProgram } from './installed-program.ts'
import { runServer } from './run-server.ts'

/** What it stores outlasts its end, and a kill of the process, not of the machine. */
const modestSettings = [
  ['--save', ''],
  ['--appendonly', 'yes'],
  ['--appendfsync', 'no'],
  ['--auto-aof-rewrite-percentage', '0'],
  // Whether it runs is found out by the folder that stands in its arguments.
  ['--set-proc-title', 'no'],
] as const

/** Where the server is installed: Debian has it in a package with a service; scripts/install-test-tools does without that. */
export function redisProgram(): string | undefined {
  return installedProgram('redis-server')
}

export interface RedisOptions {
  readonly folder: string
  readonly port: number
  /** Settings of redis.conf, such as `--requirepass secret`, word by word. */
  readonly settings?: readonly string[]
  /** Whether it goes on when this process ends. */
  readonly outlives?: boolean
}

/**
 * Starts Redis at 127.0.0.1, with what it had stored in the folder, and resolves when it answers.
 *
 * @throws Error when it is not installed, ends before, or takes too long
 */
export async function startRedis(options: RedisOptions): Promise<ChildProcess> {
  const { folder, port, settings = [], outlives = false } = options
  const program = redisProgram()
  if (program === undefined) throw new Error('Redis is not installed')
  mkdirSync(folder, { recursive: true })
  const place = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder]
  return await runServer({
    name: 'Redis',
    command: [program, ...place, ...modestSettings.flat(), ...settings],
    folder,
    outlives,
    isReady: async () => await isReady(port),
  })
}

async function isReady(port: number): Promise<boolean> {
  const client = new Redis({ host: '127.0.0.1', port, lazyConnect: true, retryStrategy: null })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch {
    return false
  } finally {
    client.disconnect()
  }
}

export const redis: DevelopmentServer = {
  variable: 'STREAMVAULT_TEST_REDIS_URL',
  missing: () =>
    redisProgram() === undefined
      ? 'Redis is not installed: scripts/install-test-tools does it on Debian'
      : undefined,
  start: async (folder, port) =>
    runningAt(`redis://127.0.0.1:${port}`, await startRedis({ folder, port, outlives: true })),
}
