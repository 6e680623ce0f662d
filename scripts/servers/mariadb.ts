import { type ChildProcess, execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createConnection } from 'mysql2/promise'
import { type DevelopmentServer, runningAt, urlWith } from './development-server.ts'
import { runServer } from './run-server.ts'

const run = promisify(execFile)

/** Who may do everything there. */
export const mariadbCredentials = { username: 'streamvault', password: 'streamvault-test' } as const

/** Fast, for data that nobody would miss, and as small as it gets. */
const modestSettings = [
  // Commits outlast a kill of the server, not of the machine.
  'innodb-flush-log-at-trx-commit=2',
  'innodb-buffer-pool-size=32M',
  'innodb-log-file-size=16M',
  'skip-log-bin',
  'skip-name-resolve',
  'character-set-server=utf8mb4',
]

/** Debian has the server where not every shell looks. */
const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/local/sbin']

/** Where the server is installed. */
export function mariadbProgram(): string | undefined {
  return folders.map((folder) => join(folder, 'mariadbd')).find((path) => existsSync(path))
}

export interface MariadbOptions {
  readonly folder: string
  readonly port: number
  /** Settings of my.cnf, such as `max-connections=10`. */
  readonly settings?: readonly string[]
  /** Whether it goes on when this process ends. */
  readonly outlives?: boolean
}

/**
 * Starts MariaDB at 127.0.0.1, with what it had stored in the folder, and resolves when it answers.
 *
 * @throws Error when it is not installed, ends before, or takes too long
 */
export async function startMariadb(options: MariadbOptions): Promise<ChildProcess> {
  const { folder, port, settings = [], outlives = false } = options
  const program = mariadbProgram()
  if (program === undefined) throw new Error('MariaDB is not installed')
  const data = join(folder, 'data')
  if (!existsSync(data)) await makeData(folder)
  const args = [
    '--no-defaults',
    `--datadir=${data}`,
    `--init-file=${join(folder, 'users.sql')}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    `--socket=${join(folder, 'socket')}`,
    // As root it would refuse to start.
    `--user=${userInfo().username}`,
    ...[...modestSettings, ...settings].map((setting) => `--${setting}`),
  ]
  return await runServer({
    name: 'MariaDB',
    command: [program, ...args],
    folder,
    outlives,
    isReady: async () => await isReady(port),
  })
}

async function makeData(folder: string): Promise<void> {
  const data = join(folder, 'data')
  mkdirSync(data, { recursive: true })
  const { username, password } = mariadbCredentials
  writeFileSync(
    join(folder, 'users.sql'),
    `CREATE USER IF NOT EXISTS '${username}'@'%' IDENTIFIED BY '${password}';\n` +
      `GRANT ALL ON *.* TO '${username}'@'%' WITH GRANT OPTION;\n` +
      'CREATE DATABASE IF NOT EXISTS test;\n',
  )
  await run('mariadb-install-db', [
    '--no-defaults',
    `--datadir=${data}`,
    `--user=${userInfo().username}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
  ])
}

async function isReady(port: number): Promise<boolean> {
  const { username: user, password } = mariadbCredentials
  try {
    const connection = await createConnection({ host: '127.0.0.1', port, user, password })
    await connection.end()
    return true
  } catch {
    return false
  }
}

export const mariadb: DevelopmentServer = {
  variable: 'STREAMVAULT_TEST_MARIADB_URL',
  missing: () =>
    mariadbProgram() === undefined
      ? 'MariaDB is not installed: scripts/install-test-tools does it on Debian'
      : undefined,
  start: async (folder, port) => {
    const url = urlWith('mariadb', mariadbCredentials, `127.0.0.1:${port}/test`)
    return runningAt(url, await startMariadb({ folder, port, outlives: true }))
  },
}
