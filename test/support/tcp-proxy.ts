import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** Stands between a client and a server on this machine, and can break their connections. */
export class TcpProxy implements AsyncDisposable {
  readonly port: number
  readonly #server: Server
  readonly #sockets: Set<Socket>
  /** By each client, the connection to the server. */
  readonly #pairs: Map<Socket, Socket>

  static async start(target: number): Promise<TcpProxy> {
    const sockets = new Set<Socket>()
    const pairs = new Map<Socket, Socket>()
    const server = createServer((client) => {
      const upstream = connect(target, '127.0.0.1')
      pairs.set(client, upstream)
      client.once('close', () => pairs.delete(client))
      for (const [socket, other] of [
        [client, upstream],
        [upstream, client],
      ] as const) {
        sockets.add(socket)
        socket.on('error', () => undefined)
        socket.once('close', () => {
          sockets.delete(socket)
          other.destroy()
        })
        socket.pipe(other)
      }
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new TcpProxy(server, sockets, pairs)
  }

  private constructor(server: Server, sockets: Set<Socket>, pairs: Map<Socket, Socket>) {
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no port was given')
    this.port = address.port
    this.#server = server
    this.#sockets = sockets
    this.#pairs = pairs
  }

  /** Resets all connections; new ones are let through. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  /** Ends the connections of clients. The server does not hear of it, and what it goes on to send is lost. */
  leave(): void {
    for (const [client, upstream] of this.#pairs) {
      upstream.unpipe(client).resume()
      client.unpipe(upstream).removeAllListeners('close').destroy()
      this.#sockets.delete(client)
    }
    this.#pairs.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.reset()
    await once(this.#server, 'close')
  }
}
