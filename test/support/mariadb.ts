import type { ChildProcess } from 'node:child_process'
import { type Connection, type ConnectionOptions, createConnection } from 'mysql2/promise'
import { mariadbCredentials, mariadbProgram, startMariadb } from '../../scripts/servers/mariadb.ts'
import { isLeftOut, TestServer } from './test-server.ts'

/** Whether this machine lacks MariaDB, for `describe.skipIf`. */
export const isMariadbMissing = isLeftOut(
  'MariaDB',
  mariadbProgram() !== undefined,
  'scripts/install-test-tools',
)

/** A MariaDB of one test file, on this machine. */
export class Mariadb extends TestServer {
  readonly #settings: readonly string[]
  readonly #clients: Connection[] = []
  readonly protocol = 'mariadb'
  /** Credentials of somebody who may do everything. */
  readonly credentials = mariadbCredentials
  #databases = 0

  /** @param settings of my.cnf, such as `max-connections=10` */
  static async start(settings: readonly string[] = []): Promise<Mariadb> {
    const server = new Mariadb(settings)
    await server.start()
    return server
  }

  private constructor(settings: readonly string[]) {
    super()
    this.#settings = settings
  }

  /** `host:port/database`. */
  endpoint(database: string): string {
    return `127.0.0.1:${this.port}/${database}`
  }

  /** An empty database that nobody else has. */
  async newDatabase(): Promise<string> {
    const name = `plant_${++this.#databases}`
    const client = await this.client('test')
    await client.query(`CREATE DATABASE ${name}`)
    return name
  }

  /** A connection of somebody who may do everything, which is ended with the server. */
  async client(database: string, options: ConnectionOptions = {}): Promise<Connection> {
    const { username: user, password } = this.credentials
    const { port } = this
    const address = { host: '127.0.0.1', port, database }
    const client = await createConnection({ ...address, user, password, ...options })
    client.on('error', () => undefined)
    this.#clients.push(client)
    return client
  }

  /** A connection that is told statements. */
  async session(database: string): Promise<(statement: string) => Promise<unknown>> {
    const client = await this.client(database)
    return async (statement) => (await client.query(statement))[0]
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.destroy()
    await super[Symbol.asyncDispose]()
  }

  protected override async launch(folder: string, port: number): Promise<ChildProcess> {
    return await startMariadb({ folder, port, settings: this.#settings })
  }
}
