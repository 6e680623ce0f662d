import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { freePort } from '../../scripts/servers/free-port.ts'

/** A server of events that keeps all it was given, and sends what is behind the id that it is told. */
export class SsePeer implements AsyncDisposable {
  readonly #events: string[] = []
  readonly #port: number
  readonly #listeners = new Set<ServerResponse>()
  #server: Server | undefined

  static async start(port?: number): Promise<SsePeer> {
    const peer = new SsePeer(port ?? (await freePort()))
    await peer.start()
    return peer
  }

  private constructor(port: number) {
    this.#port = port
  }

  get ports(): readonly number[] {
    return [this.#port]
  }

  get source() {
    return { protocol: 'sse', endpoint: `http://127.0.0.1:${this.#port}/events` }
  }

  /** How many listeners are connected. */
  get listeners(): number {
    return this.#listeners.size
  }

  /** @param name what all of them are called, if anything */
  async publish(payloads: readonly Uint8Array[], name?: string): Promise<void> {
    const named = name === undefined ? '' : `event: ${name}\n`
    for (const payload of payloads) {
      const lines = Buffer.from(payload).toString().split('\n')
      const data = lines.map((line) => `data: ${line}\n`).join('')
      const event = `id: ${this.#events.length + 1}\n${named}${data}\n`
      this.#events.push(event)
      for (const listener of this.#listeners) listener.write(event)
    }
  }

  async start(): Promise<void> {
    this.#server = createServer(({ headers }, answer) => {
      answer.writeHead(200, { 'content-type': 'text/event-stream' })
      answer.write(': here is what there is\n')
      const after = Number(headers['last-event-id'] ?? 0)
      for (const event of this.#events.slice(after)) answer.write(event)
      this.#listeners.add(answer)
      answer.on('close', () => this.#listeners.delete(answer))
    })
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}
