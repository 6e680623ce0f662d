import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DevelopmentServer, runningAt, urlWith } from './development-server.ts'
import type { OpcUaServerOptions } from './opcua-process.ts'
import { runServer } from './run-server.ts'

/** Who may come. */
export const opcUaCredentials = { username: 'streamvault', password: 'streamvault-test' } as const

const program = join(import.meta.dirname, 'opcua-process.ts')

/** Where the server keeps its certificate, and those that it trusts. */
export function opcUaPki(folder: string): string {
  return join(folder, 'node-opcua-default-nodejs', 'PKI')
}

/**
 * Starts a server of OPC UA at 127.0.0.1 that takes orders over its channel to this process, and ends with it.
 *
 * @throws Error when it ends before it is ready
 */
export async function forkOpcUa(
  folder: string,
  options: OpcUaServerOptions,
): Promise<ChildProcess> {
  mkdirSync(folder, { recursive: true })
  const log = openSync(join(folder, 'log'), 'a')
  const child = fork(program, [JSON.stringify(options)], {
    env: { ...process.env, ...environment(folder) },
    execArgv: [],
    stdio: ['ignore', log, log, 'ipc'],
  })
  const ended = once(child, 'exit').then(() => {
    throw new Error(`the server of OPC UA ended at its start: see ${folder}/log`)
  })
  ended.catch(() => undefined)
  await Promise.race([once(child, 'message'), ended])
  return child
}

export const opcua: DevelopmentServer = {
  variable: 'STREAMVAULT_TEST_OPCUA_URL',
  missing: () => undefined,
  start: async (folder, port) => {
    mkdirSync(folder, { recursive: true })
    const log = join(folder, 'log')
    writeFileSync(log, '')
    const options: OpcUaServerOptions = {
      port,
      variables: 10,
      user: opcUaCredentials,
      changeEveryMs: 1_000,
    }
    const child = await runServer({
      name: 'the server of OPC UA',
      // By its folder it is known again, to be stopped.
      command: [process.execPath, program, JSON.stringify(options), folder],
      environment: environment(folder),
      folder,
      outlives: true,
      isReady: async () => readFileSync(log, 'utf8').includes('ready'),
    })
    return runningAt(urlWith('opc.tcp', opcUaCredentials, `127.0.0.1:${port}`), child)
  },
}

/** The library keeps certificates where the settings of a user are. */
function environment(folder: string) {
  return { XDG_CONFIG_HOME: folder, HOME: folder }
}
