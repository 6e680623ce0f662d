import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** Stands between a client and a server on this machine, and can break their connections. */
export class TcpProxy implements AsyncDisposable {
  readonly port: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  static async start(target: number): Promise<TcpProxy> {
    const sockets = new Set<Socket>()
    const server = createServer((client) => {
      const upstream = connect(target, '127.0.0.1')
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
    return new TcpProxy(server, sockets)
  }

  private constructor(server: Server, sockets: Set<Socket>) {
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no port was given')
    this.port = address.port
    this.#server = server
    this.#sockets = sockets
  }

  /** Resets all connections; new ones are let through. */
  reset(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close()
    this.reset()
    await once(this.#server, 'close')
  }
}
