import type { ChildProcess } from 'node:child_process'
import { Client, type ClientConfig } from 'pg'
import {
  postgresCredentials,
  postgresPrograms,
  startPostgres,
} from '../../scripts/servers/postgres.ts'
import { isLeftOut, TestServer } from './test-server.ts'

/** Whether this machine lacks PostgreSQL, for `describe.skipIf`. */
export const isPostgresMissing = isLeftOut(
  'PostgreSQL',
  postgresPrograms() !== undefined,
  'scripts/install-test-tools',
)

/** A PostgreSQL of one test file, on this machine. */
export class Postgres extends TestServer {
  readonly #settings: readonly string[]
  readonly #clients = new Set<Client>()
  readonly protocol = 'postgres'
  /** Credentials of a superuser. */
  readonly credentials = postgresCredentials
  #databases = 0

  /** @param settings of postgresql.conf, such as `max_connections=10` */
  static async start(settings: readonly string[] = []): Promise<Postgres> {
    const server = new Postgres(settings)
    await server.start()
    return server
  }

  private constructor(settings: readonly string[]) {
    super({ stop: 'SIGINT', kill: 'SIGQUIT' })
    this.#settings = settings
  }

  /** `host:port/database`. */
  endpoint(database: string): string {
    return `127.0.0.1:${this.port}/${database}`
  }

  /** An empty database that nobody else has. */
  async newDatabase(): Promise<string> {
    const name = `plant_${++this.#databases}`
    const client = await this.client('postgres')
    await client.query(`CREATE DATABASE ${name}`)
    await client.end()
    return name
  }

  /** A connection of a superuser, which is ended with the server at the latest. */
  async client(database: string, options: ClientConfig = {}): Promise<Client> {
    const { username: user, password } = this.credentials
    const { port } = this
    const client = new Client({ host: '127.0.0.1', port, user, password, database, ...options })
    client.on('error', () => undefined)
    client.once('end', () => this.#clients.delete(client))
    await client.connect()
    this.#clients.add(client)
    return client
  }

  /** A connection that is told statements. */
  async session(database: string): Promise<(statement: string) => Promise<unknown>> {
    const client = await this.client(database)
    return async (statement) => (await client.query(statement)).rows
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) await client.end().catch(() => undefined)
    await super[Symbol.asyncDispose]()
  }

  protected override async launch(folder: string, port: number): Promise<ChildProcess> {
    return await startPostgres({ folder, port, settings: this.#settings })
  }
}
