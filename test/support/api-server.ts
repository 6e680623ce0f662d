import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'

export interface AskedOfServer {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

type Answers = (asked: AskedOfServer, answer: ServerResponse) => void

/** An API whose answers a test writes, and that remembers what it was asked. */
export class ApiServer implements AsyncDisposable {
  readonly asked: AskedOfServer[] = []
  readonly #server: Server
  readonly #protocol: string

  /** @param tls certificate and key, PEM */
  static async start(
    answers: Answers,
    tls?: { readonly cert: string; readonly key: string },
  ): Promise<ApiServer> {
    const server = new ApiServer(answers, tls)
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  private constructor(answers: Answers, tls?: { readonly cert: string; readonly key: string }) {
    const handle = async (
      request: import('node:http').IncomingMessage,
      answer: ServerResponse,
    ): Promise<void> => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      const { method = '', url = '', headers } = request
      const body = Buffer.concat(chunks).toString()
      const asked = { method, url: new URL(url, this.origin), headers, body }
      this.asked.push(asked)
      answers(asked, answer)
    }
    const listener = (request: import('node:http').IncomingMessage, answer: ServerResponse) =>
      void handle(request, answer).catch(() => answer.destroy())
    this.#server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener)
    this.#protocol = tls === undefined ? 'http' : 'https'
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get origin(): string {
    return `${this.#protocol}://127.0.0.1:${this.port}`
  }

  get paths(): readonly string[] {
    return this.asked.map(({ url }) => `${url.pathname}${url.search}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}

/** Answers with JSON. */
export function json(answer: ServerResponse, value: unknown, headers: object = {}): void {
  answer.writeHead(200, { 'content-type': 'application/json', ...headers })
  answer.end(typeof value === 'string' ? value : JSON.stringify(value))
}
