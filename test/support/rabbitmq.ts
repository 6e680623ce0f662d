import type { ChildProcess } from 'node:child_process'
import { type ChannelModel, type ConfirmChannel, connect, type Options } from 'amqplib'
import {
  type RabbitmqOptions,
  rabbitmqCredentials,
  rabbitmqProgram,
  startRabbitmq,
} from '../../scripts/servers/rabbitmq.ts'
import { isLeftOut, TestServer } from './test-server.ts'

/** Whether this machine lacks RabbitMQ, for `describe.skipIf`. */
export const isRabbitmqMissing = isLeftOut(
  'RabbitMQ',
  rabbitmqProgram() !== undefined,
  'scripts/install-test-tools',
)

type ServerOptions = Omit<RabbitmqOptions, 'folder' | 'port' | 'outlives'>

/** A RabbitMQ of one test file, on this machine. */
export class Rabbitmq extends TestServer {
  readonly #options: ServerOptions
  /** Credentials of somebody who may do everything. */
  readonly credentials = rabbitmqCredentials
  #connection: ChannelModel | undefined
  #names = 0

  static async start(options: ServerOptions = {}): Promise<Rabbitmq> {
    const server = new Rabbitmq(options)
    await server.start()
    return server
  }

  private constructor(options: ServerOptions) {
    super()
    this.#options = options
  }

  get endpoint(): string {
    return `amqp://127.0.0.1:${this.port}`
  }

  /** A channel of somebody who may do everything; each begins anew after an error of another. */
  async channel(): Promise<ConfirmChannel> {
    this.#connection ??= await this.#connect()
    const channel = await this.#connection.createConfirmChannel()
    channel.on('error', () => undefined)
    return channel
  }

  /** A name that no other queue or exchange has. */
  newName(): string {
    return `plant-${++this.#names}`
  }

  /** A durable queue with nothing in it. */
  async newQueue(type: 'classic' | 'quorum' | 'stream' = 'classic'): Promise<string> {
    const channel = await this.channel()
    const queue = this.newName()
    await channel.assertQueue(queue, { durable: true, arguments: { 'x-queue-type': type } })
    await channel.close()
    return queue
  }

  /** Resolves when the server keeps them all. */
  async publish(
    to: { readonly exchange?: string; readonly routingKey: string },
    payloads: readonly Uint8Array[],
    options: Options.Publish = {},
  ): Promise<void> {
    const channel = await this.channel()
    const { exchange = '', routingKey } = to
    for (const payload of payloads) {
      channel.publish(exchange, routingKey, Buffer.from(payload), { persistent: true, ...options })
    }
    await channel.waitForConfirms()
    await channel.close()
  }

  /** Messages that wait in a queue, and who consumes it. */
  async count(
    queue: string,
  ): Promise<{ readonly messageCount: number; readonly consumerCount: number }> {
    const channel = await this.channel()
    const { messageCount, consumerCount } = await channel.checkQueue(queue)
    await channel.close()
    return { messageCount, consumerCount }
  }

  async has(queue: string): Promise<boolean> {
    return await this.count(queue).then(
      () => true,
      () => false,
    )
  }

  protected async launch(folder: string, port: number): Promise<ChildProcess> {
    this.#connection = undefined
    return await startRabbitmq({ folder, port, ...this.#options })
  }

  async #connect(): Promise<ChannelModel> {
    const { port } = this
    const connection = await connect({ hostname: '127.0.0.1', port, ...this.credentials })
    connection.on('error', () => undefined)
    return connection
  }
}
