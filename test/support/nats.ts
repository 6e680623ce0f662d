import type { ChildProcess } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { type ConsumerInfo, type JetStreamManager, jetstreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { connectToNats } from '../../connectors/nats/connection.ts'
import { natsOptions } from '../../connectors/nats/options.ts'
import { natsProgram, startNats } from '../../scripts/servers/nats.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { dialOf } from './dial-of.ts'
import { isLeftOut, TestServer } from './test-server.ts'

/** Whether this machine lacks nats-server, for `describe.skipIf`. */
export const isNatsMissing = isLeftOut(
  'nats-server',
  natsProgram() !== undefined,
  'scripts/install-test-tools',
)

type Json = Readonly<Record<string, unknown>>

/** A nats-server with JetStream of one test file, on this machine. */
export class NatsServer extends TestServer {
  #settings: readonly string[] = []
  #credentials: Json | undefined
  #connection: NatsConnection | undefined
  #streams = 0

  static async start(): Promise<NatsServer> {
    const server = new NatsServer()
    await server.start()
    return server
  }

  /**
   * Begins anew, with what it had stored.
   *
   * @param settings lines of its configuration, such as `authorization { token: secret }`
   * @param credentials of somebody who may do everything, as in a source
   */
  async restart(settings: readonly string[], credentials?: Json): Promise<void> {
    await this.stop()
    this.#settings = settings
    this.#credentials = credentials
    await this.start()
  }

  get endpoint(): string {
    return `nats://127.0.0.1:${this.port}`
  }

  /** A connection of somebody who may do everything, which is ended with the server. */
  async client(): Promise<NatsConnection> {
    if (this.#connection && !this.#connection.isClosed()) return this.#connection
    const source = {
      endpoint: this.endpoint,
      topic: '>',
      ...(this.#credentials && { credentials: this.#credentials }),
    }
    const options = natsOptions({ streamId: newId<StreamId>(), source })
    const signal = new AbortController().signal
    // The library has one way to connect for the whole process: that of the connector.
    this.#connection = await connectToNats(options, { dial: dialOf(dialHere), signal })
    return this.#connection
  }

  async manager(): Promise<JetStreamManager> {
    return await jetstreamManager(await this.client())
  }

  /** Makes a stream of its own subjects, and returns its name: they begin with the name, in lower case. */
  async newStream(config: Json = {}): Promise<string> {
    const name = `PLANT_${++this.#streams}`
    const { streams } = await this.manager()
    await streams.add({ name, subjects: [`${name.toLowerCase()}.>`], ...config })
    return name
  }

  /** Resolves when the stream has stored them, in this order. */
  async publish(subject: string, payloads: readonly Uint8Array[]): Promise<void> {
    const client = await this.client()
    const stored = payloads.map(async (payload) => {
      const { data } = await client.request(subject, payload, { timeout: 30_000 })
      if (!Buffer.from(data).includes('"seq"')) throw new Error(Buffer.from(data).toString())
    })
    await Promise.all(stored)
  }

  async consumers(stream: string): Promise<readonly ConsumerInfo[]> {
    const { consumers } = await this.manager()
    return await consumers.list(stream).next()
  }

  override async stop(): Promise<void> {
    await this.#connection?.close()
    await super.stop()
  }

  override async kill(): Promise<void> {
    await this.#connection?.close()
    await super.kill()
  }

  protected override async launch(folder: string, port: number): Promise<ChildProcess> {
    return await startNats({ folder, port, settings: this.#settings })
  }
}

async function dialHere({ host, port }: { readonly host: string; readonly port: number }) {
  return await new Promise<Socket>((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true })
    socket.once('connect', () => resolve(socket)).once('error', reject)
  })
}
