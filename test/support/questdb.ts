import type { ChildProcess } from 'node:child_process'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { startQuestDb } from '../../scripts/servers/questdb.ts'
import { hasQuestDbJar } from '../../scripts/servers/questdb-jar.ts'
import { QuestDbConnection, type QuestDbServer } from '../../src/time-series/questdb/connection.ts'
import { freePort } from './service-process.ts'
import { TemporaryFolder } from './temporary-folder.ts'

const isThere = hasQuestDbJar() && spawnSync('java', ['-version'], { stdio: 'ignore' }).status === 0

/**
 * Whether this machine lacks QuestDB, for `describe.skipIf`. In CI that is an error of each test
 * instead, and elsewhere it is said once.
 */
export const isQuestDbMissing = !isThere && process.env['CI'] === undefined

if (isQuestDbMissing) {
  console.warn('skipped: tests with QuestDB, which `npm run servers -- fetch questdb` downloads')
}

/** A QuestDB of one test file, on this machine. */
export class QuestDb implements AsyncDisposable {
  readonly #folder = new TemporaryFolder()
  readonly #settings: readonly string[]
  readonly port: number
  #child: ChildProcess | undefined
  #prefixes = 0

  /** @param settings lines of server.conf */
  static async start(settings: readonly string[] = []): Promise<QuestDb> {
    const server = new QuestDb(await freePort(), settings)
    await server.start()
    return server
  }

  private constructor(port: number, settings: readonly string[]) {
    this.port = port
    this.#settings = settings
    // A test run that is cut off leaves no server behind.
    process.once('exit', () => this.#child?.kill('SIGKILL'))
  }

  /** Tables that nobody else has. */
  newServer(): QuestDbServer {
    return this.server(`t${++this.#prefixes}_`)
  }

  server(prefix = ''): QuestDbServer {
    return { secure: false, host: '127.0.0.1', port: this.port, user: undefined, prefix }
  }

  /** A connection for what a test wants to know of the server itself. */
  connection(): QuestDbConnection {
    return new QuestDbConnection(this.server(), { sockets: 1 })
  }

  /** Takes away the tables of a server that `newServer` has made. */
  async dropTables({ prefix }: QuestDbServer): Promise<void> {
    const connection = this.connection()
    const { rows } = await connection.run(
      `SELECT table_name FROM tables() WHERE starts_with(table_name, '${prefix}')`,
    )
    for (const [table] of rows) await connection.run(`DROP TABLE "${String(table)}"`)
    connection.close()
  }

  /** Begins to answer, with all that it has stored. */
  async start(): Promise<void> {
    this.#child = await startQuestDb({
      folder: this.#folder.path,
      port: this.port,
      settings: this.#settings,
      startsQuickly: true,
    })
  }

  /**
   * Copies what is stored now, as a disk has it that has got everything by now, and nothing after it.
   * Nobody may be writing meanwhile.
   */
  keepDisk(): void {
    const { path } = this.#folder
    rmSync(join(path, 'kept'), { recursive: true, force: true })
    cpSync(join(path, 'db'), join(path, 'kept'), { recursive: true })
  }

  /** Ends it as a power cut does: what came after `keepDisk` is lost. It begins to answer again. */
  async losePower(): Promise<void> {
    await this.kill()
    const { path } = this.#folder
    rmSync(join(path, 'db'), { recursive: true })
    cpSync(join(path, 'kept'), join(path, 'db'), { recursive: true })
    await this.start()
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM')
  }

  /** Ends it as `kill -9` does, whatever it is doing. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    this.#folder[Symbol.dispose]()
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    child.kill(signal)
    await once(child, 'exit')
  }
}
