import { type ChildProcess, spawnSync } from 'node:child_process'
import { cp, rm } from 'node:fs/promises'
import { startQuestDb } from '../../scripts/servers/questdb.ts'
import { hasQuestDbJar } from '../../scripts/servers/questdb-jar.ts'
import { QuestDbConnection } from '../../src/storage/time-series/questdb/connection.ts'
import type { StoreServer } from '../../src/storage/time-series/store-copy.ts'
import { isLeftOut, TestServer } from './test-server.ts'

const isThere = hasQuestDbJar() && spawnSync('java', ['-version'], { stdio: 'ignore' }).status === 0

/** Whether this machine lacks QuestDB, for `describe.skipIf`. */
export const isQuestDbMissing = isLeftOut('QuestDB', isThere, 'npm run servers -- fetch questdb')

/** A QuestDB of one test file, on this machine. */
export class QuestDb extends TestServer {
  readonly #settings: readonly string[]
  readonly #startsQuickly: boolean
  #prefixes = 0

  /**
   * @param settings lines of server.conf
   * @param startsQuickly false where its speed is what is measured
   */
  static async start(settings: readonly string[] = [], startsQuickly = true): Promise<QuestDb> {
    const server = new QuestDb(settings, startsQuickly)
    await server.start()
    return server
  }

  private constructor(settings: readonly string[], startsQuickly: boolean) {
    super()
    this.#settings = settings
    this.#startsQuickly = startsQuickly
  }

  /** Tables that nobody else has. */
  newServer(): StoreServer {
    return this.server(`t${++this.#prefixes}_`)
  }

  server(prefix = ''): StoreServer {
    return { secure: false, host: '127.0.0.1', port: this.port, user: undefined, prefix }
  }

  /** A connection for what a test wants to know of the server itself. */
  connection(): QuestDbConnection {
    return this.connectionTo(this.server())
  }

  connectionTo(server: StoreServer): QuestDbConnection {
    return new QuestDbConnection(server, { sockets: 1 })
  }

  /** Takes away the tables of a server that `newServer` has made. */
  async dropTables({ prefix }: StoreServer): Promise<void> {
    const connection = this.connection()
    const { rows } = await connection.run(
      `SELECT table_name FROM tables() WHERE starts_with(table_name, '${prefix}')`,
    )
    for (const [table] of rows) await connection.run(`DROP TABLE "${String(table)}"`)
    connection.close()
  }

  /**
   * Copies what is stored now, as a disk has it that has got everything by now, and nothing after it.
   * Nobody may be writing meanwhile.
   */
  async keepDisk(): Promise<void> {
    const [stored, kept] = [this.folder.file('db'), this.folder.file('kept')]
    for (let triesLeft = 20; triesLeft > 0; triesLeft--) {
      await rm(kept, { recursive: true, force: true })
      if (await isCopiedWhole(stored, kept)) return
    }
    throw new Error('the server does not come to rest')
  }

  /** Ends it as a power cut does: what came after `keepDisk` is lost. It begins to answer again. */
  async losePower(): Promise<void> {
    await this.kill()
    const [stored, kept] = [this.folder.file('db'), this.folder.file('kept')]
    await rm(stored, { recursive: true })
    await cp(kept, stored, { recursive: true })
    await this.start()
  }

  protected override async launch(folder: string, port: number): Promise<ChildProcess> {
    const [settings, startsQuickly] = [this.#settings, this.#startsQuickly]
    return await startQuestDb({ folder, port, settings, startsQuickly })
  }
}

/**
 * Copies a folder, and answers whether all of it was there until the end: the server purges at its own times. (`cpSync`
 * of Node.js 24 would end the process when a folder goes meanwhile.)
 */
async function isCopiedWhole(from: string, to: string): Promise<boolean> {
  try {
    await cp(from, to, { recursive: true })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}
