import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type ServerOptions, type WebSocket, WebSocketServer } from 'ws'

interface Visit {
  readonly headers: IncomingHttpHeaders
  readonly url: string
}

/** A server of WebSockets whose talk a test writes, and that remembers who came and what was said. */
export class MessageServer implements AsyncDisposable {
  readonly visits: Visit[] = []
  readonly said: string[] = []
  readonly #server: ReturnType<typeof createServer>
  readonly #sockets: WebSocketServer

  /** @param options of the library, and certificate and key, PEM */
  static async start(
    talk: (socket: WebSocket) => void,
    options: ServerOptions & { readonly cert?: string; readonly key?: string } = {},
  ): Promise<MessageServer> {
    const server = new MessageServer(talk, options)
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  private constructor(
    talk: (socket: WebSocket) => void,
    { cert, key, ...options }: ServerOptions & { readonly cert?: string; readonly key?: string },
  ) {
    this.#server = cert === undefined ? createServer() : createSecureServer({ cert, key })
    this.#sockets = new WebSocketServer({ ...options, server: this.#server })
    this.#sockets.on('connection', (socket, { headers, url = '' }) => {
      this.visits.push({ headers, url })
      socket.on('error', () => undefined)
      socket.on('message', (message: Buffer) => this.said.push(message.toString()))
      talk(socket)
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** How many clients are connected. */
  get clients(): number {
    return this.#sockets.clients.size
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#sockets.clients) client.terminate()
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}
