import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

/** A server that speaks as badly as a test wants, as soon as a connection has said something. */
export class RudeServer implements AsyncDisposable {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  static async start(speak: (socket: Socket, said: Buffer) => void): Promise<RudeServer> {
    const server = new RudeServer(speak)
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  private constructor(speak: (socket: Socket, said: Buffer) => void) {
    this.#server = createServer((socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.once('data', (said: Buffer) => speak(socket, said))
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}

/** Writes as much as the other side takes, for ever. */
export function flood(socket: Socket, chunk: Buffer | string): void {
  const write = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', write)
  write()
}
