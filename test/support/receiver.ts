import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'

/** A request as it came: the bytes, and the headers as they stood on the wire. */
export interface Received {
  readonly path: string
  readonly body: Buffer
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly atMs: number
  /** How many have come over the same connection, this one included. */
  readonly ofConnection: number
}

/** What a receiver does with a request. */
export type Behaviour = (response: ServerResponse, received: Received) => void

export const answering =
  (status: number, body = '', headers: Readonly<Record<string, string>> = {}): Behaviour =>
  (response) =>
    void response.writeHead(status, headers).end(body)

export const hanging: Behaviour = () => undefined

export const resetting: Behaviour = (response) => void response.socket?.resetAndDestroy()

/** Answers, and then sends its body for ever, a byte at a time. */
export const dripping: Behaviour = (response) => {
  response.writeHead(200)
  const timer = setInterval(() => response.write('.'), 20)
  response.on('close', () => clearInterval(timer))
}

/** A real receiver of webhooks, over HTTP or HTTPS, that does with each request what it was told to. */
export class Receiver implements AsyncDisposable {
  readonly received: Received[] = []
  behaviour: Behaviour = answering(200)
  readonly #server
  readonly #scheme: string
  readonly #counts = new WeakMap<Socket, number>()
  #changed = Promise.withResolvers<void>()

  static async start(tls?: { readonly cert: string; readonly key: string }): Promise<Receiver> {
    const receiver = new Receiver(tls)
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    return receiver
  }

  private constructor(tls: { readonly cert: string; readonly key: string } | undefined) {
    this.#scheme = tls ? 'https' : 'http'
    this.#server = tls ? createTlsServer(tls) : createServer()
    this.#server.on('request', (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('error', () => undefined)
      request.on('end', () => {
        const ofConnection = (this.#counts.get(request.socket) ?? 0) + 1
        this.#counts.set(request.socket, ofConnection)
        const received: Received = {
          path: request.url ?? '',
          body: Buffer.concat(chunks),
          headers: request.headers,
          rawHeaders: request.rawHeaders,
          atMs: performance.now(),
          ofConnection,
        }
        this.received.push(received)
        this.#changed.resolve()
        this.behaviour(response, received)
      })
    })
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** For `STREAMVAULT_EGRESS_ALLOW`. */
  get destination(): string {
    return `127.0.0.1:${this.port}`
  }

  get url(): string {
    return `${this.#scheme}://${this.destination}/hook`
  }

  /** Resolves with the first so many requests. @throws Error when they do not come in time */
  async requests(count: number, timeoutMs = 60_000): Promise<readonly Received[]> {
    const deadline = AbortSignal.timeout(timeoutMs)
    const late = new Promise<never>((_, reject) => {
      deadline.addEventListener('abort', () =>
        reject(new Error(`${this.received.length} of ${count} requests came`)),
      )
    })
    late.catch(() => undefined)
    while (this.received.length < count) {
      this.#changed = Promise.withResolvers()
      await Promise.race([this.#changed.promise, late])
    }
    return this.received.slice(0, count)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
