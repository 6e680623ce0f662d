import type { ChildProcess } from 'node:child_process'
import { Redis } from 'ioredis'
import { redisProgram, startRedis } from '../../scripts/servers/redis.ts'
import { isLeftOut, TestServer } from './test-server.ts'

/** Whether this machine lacks Redis, for `describe.skipIf`. */
export const isRedisMissing = isLeftOut(
  'Redis',
  redisProgram() !== undefined,
  'scripts/install-test-tools',
)

/** A Redis of one test file, on this machine. */
export class RedisServer extends TestServer {
  readonly #settings: readonly string[]
  readonly #clients: Redis[] = []
  #keys = 0

  /** @param settings of redis.conf, such as `--requirepass`, `secret` */
  static async start(settings: readonly string[] = []): Promise<RedisServer> {
    const server = new RedisServer(settings)
    await server.start()
    return server
  }

  private constructor(settings: readonly string[]) {
    super()
    this.#settings = settings
  }

  get endpoint(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** The name of a stream that nobody else has. */
  newKey(): string {
    return `plant:${++this.#keys}`
  }

  /** A client that comes back when the server does, and is ended with it. */
  async client(): Promise<Redis> {
    const { port } = this
    const client = new Redis({ host: '127.0.0.1', port, lazyConnect: true })
    client.on('error', () => undefined)
    this.#clients.push(client)
    await client.connect()
    return client
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.disconnect()
    await super[Symbol.asyncDispose]()
  }

  protected override async launch(folder: string, port: number): Promise<ChildProcess> {
    return await startRedis({ folder, port, settings: this.#settings })
  }
}
