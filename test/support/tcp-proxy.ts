import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** Stands between a client and a server on this machine, and can break their connections, or hold them up. */
export class TcpProxy implements AsyncDisposable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  /** By each client, the connection to the server. */
  readonly #pairs = new Map<Socket, Socket>()
  /** Bytes that are still passed on. */
  #bytesLeft = Number.POSITIVE_INFINITY
  #isCut = false
  #holdIn: { readonly request: string; readonly bytes: number } | undefined

  static async start(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  private constructor(target: number) {
    this.#server = createServer((client) => {
      if (this.#isCut) client.resetAndDestroy()
      else this.#join(client, connect(target, '127.0.0.1'))
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Passes on about so many bytes more, whoever sends them, and nothing behind them until it is told to reset. */
  holdAfter(bytes: number): void {
    this.#bytesLeft = bytes
  }

  /** Begins to hold up in the next piece of a client that contains the beginning of a request. */
  holdIn(request: string, bytes: number): void {
    this.#holdIn = { request, bytes }
  }

  /** Whether something is held up. */
  get isHolding(): boolean {
    return this.#bytesLeft <= 0
  }

  /** Resets all connections; new ones are let through. */
  reset(): void {
    this.#bytesLeft = Number.POSITIVE_INFINITY
    for (const socket of this.#sockets) socket.resetAndDestroy()
  }

  /** Resets all connections, and each new one as soon as it comes, until it is mended. */
  cut(): void {
    this.#isCut = true
    this.reset()
  }

  mend(): void {
    this.#isCut = false
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

  #join(client: Socket, upstream: Socket): void {
    this.#pairs.set(client, upstream)
    client.once('close', () => this.#pairs.delete(client))
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
      if (this.isHolding) socket.unpipe().pause()
      // Behind the pipe: this piece is on its way.
      socket.on('data', (piece: Buffer) => {
        if (socket === client && this.#holdIn && piece.includes(this.#holdIn.request)) {
          this.#bytesLeft = this.#holdIn.bytes
          this.#holdIn = undefined
        } else this.#bytesLeft -= piece.length
        if (this.isHolding) for (const held of this.#sockets) held.unpipe().pause()
      })
    }
  }
}
