import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type DevelopmentServer, runningAt } from './development-server.ts'
import { installedProgram } from './installed-program.ts'
import { runServer } from './run-server.ts'

/** Where nats-server is installed. */
export function natsProgram(): string | undefined {
  return installedProgram('nats-server')
}

export interface NatsOptions {
  readonly folder: string
  readonly port: number
  /** Lines of its configuration, such as `authorization { token: secret }`. */
  readonly settings?: readonly string[]
  /** Whether it goes on when this process ends. */
  readonly outlives?: boolean
}

/**
 * Starts nats-server with JetStream at 127.0.0.1, with what it had stored in the folder, and resolves when it answers.
 *
 * @throws Error when it is not installed, ends before, or takes too long
 */
export async function startNats(options: NatsOptions): Promise<ChildProcess> {
  const { folder, port, settings = [], outlives = false } = options
  const program = natsProgram()
  if (program === undefined) throw new Error('nats-server is not installed')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'nats.conf')
  const lines = [`listen: "127.0.0.1:${port}"`, 'jetstream: enabled', ...settings]
  writeFileSync(file, `${lines.join('\n')}\n`)
  return await runServer({
    name: 'nats-server',
    command: [program, '-c', file, '--store_dir', join(folder, 'jetstream')],
    folder,
    outlives,
    isReady: async () => await isListening(port),
  })
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const succeeds = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return succeeds
}

export const nats: DevelopmentServer = {
  variable: 'STREAMVAULT_TEST_NATS_URL',
  missing: () =>
    natsProgram() === undefined
      ? 'nats-server is not installed: scripts/install-test-tools does it where there is Go'
      : undefined,
  start: async (folder, port) => {
    const child = await startNats({ folder, port, outlives: true })
    return runningAt(`nats://127.0.0.1:${port}`, child)
  },
}
