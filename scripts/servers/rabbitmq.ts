import type { ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'amqplib'
import { type DevelopmentServer, runningAt, urlWith } from './development-server.ts'
import { runServer } from './run-server.ts'

/** Who may do everything there. */
export const rabbitmqCredentials = {
  username: 'streamvault',
  password: 'streamvault-test',
} as const

/** Where Debian, and the archive of RabbitMQ itself, have the server: the one in the path would become another user. */
const places = ['/usr/lib/rabbitmq/bin', '/usr/lib/rabbitmq/lib']

/** The program that starts the server, where it is installed. */
export function rabbitmqProgram(): string | undefined {
  const [debian = '', versions = ''] = places
  const unpacked = existsSync(versions) ? readdirSync(versions) : []
  const folders = [debian, ...unpacked.map((name) => join(versions, name, 'sbin'))]
  return folders.map((folder) => join(folder, 'rabbitmq-server')).find((path) => existsSync(path))
}

export interface RabbitmqOptions {
  readonly folder: string
  readonly port: number
  /** Lines of rabbitmq.conf. */
  readonly settings?: readonly string[]
  /** Names of plugins. */
  readonly plugins?: readonly string[]
  /** Users, virtual hosts and permissions besides our own, as `rabbitmqctl import_definitions` takes them. */
  readonly definitions?: Readonly<Record<string, readonly object[]>>
  /** Whether it goes on when this process ends. */
  readonly outlives?: boolean
}

/**
 * Starts RabbitMQ at 127.0.0.1, with what it had stored in the folder, and resolves when it answers. It is a node of
 * its own, which others cannot find: there is no epmd, and no port for other nodes.
 *
 * @throws Error when it is not installed, ends before, or takes too long
 */
export async function startRabbitmq(options: RabbitmqOptions): Promise<ChildProcess> {
  const { folder, port, outlives = false } = options
  const program = rabbitmqProgram()
  if (program === undefined) throw new Error('RabbitMQ is not installed')
  writeSettings(options)
  return await runServer({
    name: 'RabbitMQ',
    // The last argument is for whoever looks for the process.
    command: [program, '-streamvault', folder],
    environment: environment(folder, port),
    folder,
    outlives,
    isReady: async () => await isReady(port),
  })
}

function writeSettings(options: RabbitmqOptions): void {
  const { folder, port, settings = [], plugins = [], definitions = {} } = options
  mkdirSync(folder, { recursive: true })
  const file = (name: string) => join(folder, name)
  const lines = [
    `listeners.tcp.1 = 127.0.0.1:${port}`,
    'log.console = true',
    'log.file = false',
    'vm_memory_high_watermark.absolute = 1GiB',
    'disk_free_limit.absolute = 50MB',
    `load_definitions = ${file('definitions.json')}`,
    ...settings,
  ]
  writeFileSync(file('rabbitmq.conf'), `${lines.join('\n')}\n`)
  writeFileSync(file('plugins'), `[${plugins.join(',')}].\n`)
  const { username, password } = rabbitmqCredentials
  const everything = { configure: '.*', write: '.*', read: '.*' }
  const own: Readonly<Record<string, readonly object[]>> = {
    users: [{ name: username, password, tags: ['administrator'] }],
    vhosts: [{ name: '/' }],
    permissions: [{ user: username, vhost: '/', ...everything }],
  }
  const all = { ...definitions }
  for (const [kind, items] of Object.entries(own)) all[kind] = [...items, ...(all[kind] ?? [])]
  writeFileSync(file('definitions.json'), JSON.stringify(all))
}

/** All that it would else look for, or leave behind, elsewhere on this machine. */
function environment(folder: string, port: number): Readonly<Record<string, string>> {
  const node = `streamvault-${port}@localhost`
  const file = (name: string) => join(folder, name)
  // It asks for its own port, to which there is an answer without epmd if it is a fixed one.
  const alone = ['-dist_listen', 'false', '-start_epmd', 'false', '-erl_epmd_port', `${port}`]
  // One thread that sleeps while there is nothing to do.
  const modest = ['+S', '1:1', '+sbwt', 'none']
  return {
    HOME: folder,
    RABBITMQ_NODENAME: node,
    RABBITMQ_CONF_ENV_FILE: file('none'),
    RABBITMQ_CONFIG_FILE: file('rabbitmq.conf'),
    RABBITMQ_ADVANCED_CONFIG_FILE: file('none.config'),
    RABBITMQ_ENABLED_PLUGINS_FILE: file('plugins'),
    RABBITMQ_FEATURE_FLAGS_FILE: file('feature-flags'),
    RABBITMQ_GENERATED_CONFIG_DIR: file('generated'),
    RABBITMQ_PLUGINS_EXPAND_DIR: file('expanded'),
    RABBITMQ_MNESIA_BASE: file('data'),
    RABBITMQ_MNESIA_DIR: file('data/node'),
    RABBITMQ_PID_FILE: file('pid'),
    RABBITMQ_LOG_BASE: folder,
    RABBITMQ_LOGS: '-',
    // The process is the server itself, and no script that would wait for it.
    RABBITMQ_ALLOW_INPUT: '1',
    RABBITMQ_SERVER_START_ARGS: '-noinput',
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: ['-sname', node, ...alone, ...modest].join(' '),
  }
}

async function isReady(port: number): Promise<boolean> {
  const { username, password } = rabbitmqCredentials
  try {
    const connection = await connect({ hostname: '127.0.0.1', port, username, password })
    await connection.close()
    return true
  } catch {
    return false
  }
}

export const rabbitmq: DevelopmentServer = {
  variable: 'STREAMVAULT_TEST_AMQP_URL',
  missing: () =>
    rabbitmqProgram() === undefined
      ? 'RabbitMQ is not installed: scripts/install-test-tools does it on Debian'
      : undefined,
  start: async (folder, port) => {
    const url = urlWith('amqp', rabbitmqCredentials, `127.0.0.1:${port}`)
    return runningAt(url, await startRabbitmq({ folder, port, outlives: true }))
  },
}
