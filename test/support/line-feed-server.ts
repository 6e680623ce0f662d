import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { freePort } from '../../scripts/servers/free-port.ts'

/** The other side of the example of docs/connectors.md: it keeps all messages, and is asked for them by number. */
export class LineFeedServer implements AsyncDisposable {
  readonly port: number
  readonly #messages: string[] = []
  /** How many of them each connection has been sent. */
  readonly #sent = new Map<Socket, number>()
  #server: Server | undefined

  static async start(): Promise<LineFeedServer> {
    const feed = new LineFeedServer(await freePort())
    await feed.start()
    return feed
  }

  private constructor(port: number) {
    this.port = port
  }

  async start(): Promise<void> {
    this.#server = createServer((socket) => {
      // Who is connected goes away at any time.
      this.#serve(socket).catch(() => undefined)
    }).listen(this.port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async stop(): Promise<void> {
    for (const socket of this.#sent.keys()) socket.destroy()
    this.#server?.close()
    if (this.#server) await once(this.#server, 'close')
    this.#server = undefined
  }

  publish(payloads: readonly Uint8Array[]): void {
    for (const payload of payloads) this.#messages.push(Buffer.from(payload).toString('base64'))
    for (const socket of this.#sent.keys()) this.#send(socket)
  }

  async #serve(socket: Socket): Promise<void> {
    socket.on('error', () => undefined)
    socket.once('close', () => this.#sent.delete(socket))
    for await (const line of createInterface({ input: socket })) {
      this.#sent.set(socket, Number(line.split(' ')[1]))
      this.#send(socket)
    }
  }

  #send(socket: Socket): void {
    const from = this.#sent.get(socket) ?? 0
    for (const message of this.#messages.slice(from)) socket.write(`${message}\n`)
    this.#sent.set(socket, this.#messages.length)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server) await this.stop()
  }
}
