import type { Redis } from 'ioredis'
import { redisStream } from '../../connectors/redis-stream/redis-stream.ts'
import { FetchingSource } from './fetching-source.ts'
import type { RedisServer } from './redis-server.ts'

const group = 'vault'

/** A stream of a real server that is read, and of nobody else. */
export class ReadStream implements AsyncDisposable {
  readonly #server: RedisServer
  readonly key: string
  readonly client: Redis
  readonly source: Readonly<Record<string, unknown>>
  readonly #readers: FetchingSource[] = []

  static async create(
    server: RedisServer,
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<ReadStream> {
    return new ReadStream(server, { client: await server.client(), more })
  }

  private constructor(
    server: RedisServer,
    { client, more }: { readonly client: Redis; readonly more: object },
  ) {
    this.#server = server
    this.client = client
    this.key = server.newKey()
    this.source = { protocol: 'redis', endpoint: server.endpoint, topic: this.key, ...more }
  }

  /** Somebody who reads it, and does not yet. */
  reader(): FetchingSource {
    const ports = [this.#server.port]
    const reader = new FetchingSource({ connector: redisStream, source: this.source, ports })
    this.#readers.push(reader)
    return reader
  }

  /** Adds entries with numbers from the first one on. */
  async add(first: number, count: number): Promise<readonly string[]> {
    const ids: string[] = []
    for (let number = first; number < first + count; number++)
      ids.push(await this.addAs('*', number))
    return ids
  }

  async addAs(id: string, number: number): Promise<string> {
    return String(await this.client.xadd(this.key, id, ...fieldsOf(number)))
  }

  /** Has another consumer of the group read entries, and say nothing for so long. */
  async leaveWith(consumer: string, count: number, idleMs: number): Promise<void> {
    await this.client.xgroup('CREATE', this.key, group, '0', 'MKSTREAM').catch(() => undefined)
    const who = ['GROUP', group, consumer] as const
    const found = await this.client.xreadgroup(...who, 'COUNT', count, 'STREAMS', this.key, '>')
    const [[, entries]] = found as [[string, [string, string[]][]]]
    const ids = entries.map(([id]) => id)
    await this.client.xclaim(this.key, group, consumer, 0, ...ids, 'IDLE', idleMs)
  }

  /** How many entries of the group nobody has acknowledged. */
  async pending(): Promise<number> {
    const [count] = (await this.client.xpending(this.key, group)) as [number]
    return count
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const reader of this.#readers) await reader[Symbol.asyncDispose]()
  }
}

function fieldsOf(number: number): readonly string[] {
  const timestamp = new Date(Date.UTC(2026, 2, 1) + number * 1_000).toISOString()
  return ['number', String(number), 'timestamp', timestamp]
}
