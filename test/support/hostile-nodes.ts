import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { freePort } from '../../scripts/servers/free-port.ts'
import { makeCertificate } from './certificate.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** Addresses that nobody answers at as a node does, each in another way. All have a token in them, some at several places. */
export class HostileNodes implements AsyncDisposable {
  /** They are of HTTP and of WebSockets. */
  readonly addresses: readonly string[]
  readonly #folder: TemporaryFolder
  readonly #servers: readonly Server[]
  readonly #sockets: Set<Socket>

  /** @param token letters and digits: it is part of a name, too */
  static async start(token: string): Promise<HostileNodes> {
    const folder = new TemporaryFolder()
    const sockets = new Set<Socket>()
    const { certPath, keyPath } = makeCertificate(folder.path)
    const files = { cert: readFileSync(certPath), key: readFileSync(keyPath) }
    const words = `token ${token} is wrong at /${token}`
    const json = JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32_000, message: words } })
    const answers = [
      `HTTP/1.1 302 Found\r\nLocation: /other/${token}\r\nContent-Length: 0\r\n\r\n`,
      `HTTP/1.1 401 ${token}\r\nContent-Length: ${words.length}\r\n\r\n${words}`,
      `HTTP/1.1 200 OK\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
      // Nothing that a program could read.
      `${words}\r\n\r\n`,
    ]
    const plain = answers.map((answer) => createServer((socket) => void answerOnce(socket, answer)))
    const servers = [...plain, createTlsServer(files, (socket) => socket.destroy())]
    for (const server of servers) {
      server.on('connection', (socket: Socket) => {
        sockets.add(socket)
        socket.on('error', () => undefined)
      })
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
    }
    const hosts = servers.map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`)
    const closed = `127.0.0.1:${await freePort()}`
    const [redirecting, refusing, , raving, secure] = hosts
    const ways = [
      ...hosts.slice(0, plain.length).flatMap((host) => [`http://${host}`, `ws://${host}`]),
      `http://${closed}`,
      `ws://${closed}`,
      `https://${redirecting}`,
      `wss://${refusing}`,
      `http://${secure}`,
      `https://${secure}`,
      `wss://${secure}`,
      `https://${raving}`,
      `https://${token}.invalid`,
      `wss://${token}.invalid`,
    ]
    const addresses = ways.map((way) => `${way}/v2/${token}?key=${token}`)
    return new HostileNodes(addresses, folder, servers, sockets)
  }

  private constructor(
    addresses: readonly string[],
    folder: TemporaryFolder,
    servers: readonly Server[],
    sockets: Set<Socket>,
  ) {
    this.addresses = addresses
    this.#folder = folder
    this.#servers = servers
    this.#sockets = sockets
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    for (const server of this.#servers) {
      server.close()
      await once(server, 'close')
    }
    this.#folder[Symbol.dispose]()
  }
}

async function answerOnce(socket: Socket, answer: string): Promise<void> {
  await once(socket, 'data')
  socket.end(answer)
}
