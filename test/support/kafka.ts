import type { ChildProcess } from 'node:child_process'
import { Admin, FindCoordinatorKeyTypes, ListOffsetTimestamps, Producer } from '@platformatic/kafka'
import { freePort } from '../../scripts/servers/free-port.ts'
import { type KafkaOptions, startKafka } from '../../scripts/servers/kafka.ts'
import { hasKafkaJars } from '../../scripts/servers/kafka-jars.ts'
import { isLeftOut, TestServer } from './test-server.ts'

/** Whether this machine lacks Kafka, for `describe.skipIf`. */
export const isKafkaMissing = isLeftOut('Kafka', hasKafkaJars(), 'npm run servers -- fetch kafka')

export interface KafkaMessage {
  readonly value: Uint8Array | null
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  /** That of the key, where none is said. */
  readonly partition?: number
}

interface ProducingOptions {
  readonly compression?: 'none' | 'gzip' | 'snappy' | 'lz4' | 'zstd'
  readonly perBatch?: number
}

type MoreOptions = (
  folder: string,
) => Promise<Pick<KafkaOptions, 'advertised' | 'listeners' | 'settings' | 'users'>>

/** A Kafka of one test file, on this machine. */
export class Kafka extends TestServer {
  readonly #more: MoreOptions
  #controllerPort: number | undefined
  #admin: Admin | undefined
  #topics = 0

  /** @param more listeners and users, for a server that has nothing yet in its folder */
  static async start(more: MoreOptions = async () => ({})): Promise<Kafka> {
    const server = new Kafka(more)
    await server.start()
    return server
  }

  private constructor(more: MoreOptions) {
    super({ stop: 'SIGTERM', kill: 'SIGKILL' })
    this.#more = more
  }

  get endpoint(): string {
    return `kafka://127.0.0.1:${this.port}`
  }

  /** Options of a client that waits for what a broker on a busy machine is about to have. */
  get clientOptions() {
    return {
      clientId: 'test',
      bootstrapBrokers: [`127.0.0.1:${this.port}`],
      retries: 600,
      retryDelay: 100,
      connectTimeout: 60_000,
      timeout: 60_000,
    }
  }

  get admin(): Admin {
    this.#admin ??= new Admin(this.clientOptions)
    return this.#admin
  }

  /** A topic that nobody else has. */
  async newTopic(partitions = 1, settings: Readonly<Record<string, string>> = {}): Promise<string> {
    const topic = `readings-${++this.#topics}`
    await this.createTopic(topic, partitions, settings)
    return topic
  }

  async createTopic(
    topic: string,
    partitions: number,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    const configs = Object.entries(settings).map(([name, value]) => ({ name, value }))
    await this.admin.createTopics({ topics: [topic], partitions, replicas: 1, configs })
    // A producer that is refused by one partition sends to all of them once more: each must have its leader.
    const all = Array.from({ length: partitions }, (_, partitionIndex) => ({
      partitionIndex,
      timestamp: ListOffsetTimestamps.LATEST,
    }))
    await this.admin.listOffsets({ topics: [{ name: topic, partitions: all }] })
    // The first that asks for a group has the broker begin to take care of groups, which takes a while.
    await this.admin.findCoordinator({ keyType: FindCoordinatorKeyTypes.GROUP, keys: ['nobody'] })
  }

  producer(): Producer {
    return new Producer({ ...this.clientOptions, autocreateTopics: false })
  }

  /** In their order, batch after batch. */
  async produce(
    topic: string,
    messages: readonly KafkaMessage[],
    { compression = 'none', perBatch = 500 }: ProducingOptions = {},
  ): Promise<void> {
    const producer = this.producer()
    try {
      for (let from = 0; from < messages.length; from += perBatch) {
        const some = messages.slice(from, from + perBatch).map((message) => ({
          topic,
          partition: message.partition ?? 0,
          ...(message.key !== undefined && { key: Buffer.from(message.key) }),
          value: message.value === null ? (null as unknown as Buffer) : Buffer.from(message.value),
          headers: new Map(
            Object.entries(message.headers ?? {}).map(([name, value]) => [
              Buffer.from(name),
              Buffer.from(value),
            ]),
          ),
        }))
        await producer.send({ messages: some, compression, acks: -1 })
      }
    } finally {
      await producer.close()
    }
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#admin?.close().catch(() => undefined)
    await super[Symbol.asyncDispose]()
  }

  override async stop(): Promise<void> {
    await this.#admin?.close().catch(() => undefined)
    this.#admin = undefined
    await super.stop()
  }

  protected override async launch(folder: string, port: number): Promise<ChildProcess> {
    this.#controllerPort ??= await freePort()
    const controllerPort = this.#controllerPort
    return await startKafka({ folder, port, controllerPort, ...(await this.#more(folder)) })
  }
}
