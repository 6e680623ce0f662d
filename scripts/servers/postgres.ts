import { type ChildProcess, execFile } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type DevelopmentServer, runningAt, urlWith } from './development-server.ts'
import { runServer } from './run-server.ts'

const run = promisify(execFile)

/** Who may do everything there. */
export const postgresCredentials = {
  username: 'streamvault',
  password: 'streamvault-test',
} as const

/** Where Debian has the programs of PostgreSQL: not where a shell would find them. */
const debianFolder = '/usr/lib/postgresql'

/** Fast, for data that nobody would miss, and ready for those who follow its changes. */
const modestSettings = ['fsync=off', 'wal_level=logical', 'shared_buffers=32MB']

/** The ids of nobody. PostgreSQL refuses to run as root. */
const nobody = 65_534

/** The folder with the programs of PostgreSQL, where it is installed. */
export function postgresPrograms(): string | undefined {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder) : []
  const newest = versions.toSorted((one, other) => Number(other) - Number(one))
  const folders = newest.map((version) => join(debianFolder, version, 'bin'))
  const others = (process.env['PATH'] ?? '').split(':')
  return [...folders, ...others].find((folder) => existsSync(join(folder, 'initdb')))
}

export interface PostgresOptions {
  readonly folder: string
  readonly port: number
  /** Settings of postgresql.conf, such as `max_connections=10`. */
  readonly settings?: readonly string[]
  /** Whether it goes on when this process ends. */
  readonly outlives?: boolean
}

/**
 * Starts PostgreSQL at 127.0.0.1, with what it had stored in the folder, and resolves when it answers.
 *
 * @throws Error when it is not installed, ends before, or takes too long
 */
export async function startPostgres(options: PostgresOptions): Promise<ChildProcess> {
  const { folder, port, settings = [], outlives = false } = options
  const programs = postgresPrograms()
  if (programs === undefined) throw new Error('PostgreSQL is not installed')
  const data = join(folder, 'data')
  if (!existsSync(data)) await makeData(programs, folder)
  const lines = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    ...modestSettings,
    ...settings,
  ]
  const program = [join(programs, 'postgres'), '-D', data] as const
  return await runServer({
    name: 'PostgreSQL',
    command: asSomebody([...program, ...lines.flatMap((line) => ['-c', line])]),
    folder,
    outlives,
    isReady: async () => await isReady(programs, port),
  })
}

async function makeData(programs: string, folder: string): Promise<void> {
  const [data, password] = [join(folder, 'data'), join(folder, 'password')]
  mkdirSync(data, { recursive: true, mode: 0o700 })
  writeFileSync(password, postgresCredentials.password)
  if (process.getuid?.() === 0) chownSync(data, nobody, nobody)
  const [program, ...args] = asSomebody([
    join(programs, 'initdb'),
    `--pgdata=${data}`,
    `--username=${postgresCredentials.username}`,
    `--pwfile=${password}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
  ])
  await run(program, args)
}

/** As root it is run by nobody, who may still get at folders of root. */
function asSomebody(command: readonly [string, ...string[]]): readonly [string, ...string[]] {
  if (process.getuid?.() !== 0) return command
  const identity = [`--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups']
  const access = ['--inh-caps=+dac_override', '--ambient-caps=+dac_override']
  return ['setpriv', ...identity, ...access, ...command]
}

async function isReady(programs: string, port: number): Promise<boolean> {
  return await run(join(programs, 'pg_isready'), ['-q', '-h', '127.0.0.1', '-p', `${port}`]).then(
    () => true,
    () => false,
  )
}

export const postgres: DevelopmentServer = {
  variable: 'STREAMVAULT_TEST_POSTGRES_URL',
  missing: () =>
    postgresPrograms() === undefined
      ? 'PostgreSQL is not installed: scripts/install-test-tools does it on Debian'
      : undefined,
  start: async (folder, port) => {
    const url = urlWith('postgres', postgresCredentials, `127.0.0.1:${port}/postgres`)
    return runningAt(url, await startPostgres({ folder, port, outlives: true }))
  },
  // At SIGTERM it would wait for its clients.
  stopSignal: 'SIGINT',
}
