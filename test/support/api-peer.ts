import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { freePort } from '../../scripts/servers/free-port.ts'

/**
 * An API that is a queue: each payload is a page of its own, byte for byte, with a link to the next one. Behind the
 * last one there is an empty page, which leads to itself until there is more.
 */
export class ApiPeer implements AsyncDisposable {
  readonly #payloads: Uint8Array[] = []
  readonly #port: number
  #server: Server | undefined

  static async start(): Promise<ApiPeer> {
    const peer = new ApiPeer(await freePort())
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
    return {
      endpoint: `http://127.0.0.1:${this.#port}/queue`,
      schedule: '* * * * * *',
      timeout: '10s',
      pagination: { type: 'link', pagesMax: 10_000 },
    }
  }

  async publish(payloads: readonly Uint8Array[]): Promise<void> {
    this.#payloads.push(...payloads)
  }

  async start(): Promise<void> {
    this.#server = createServer(({ url = '' }, answer) => {
      const place = Number(new URL(url, 'http://peer').searchParams.get('after') ?? 0)
      this.#answer(place, answer)
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

  #answer(place: number, answer: ServerResponse): void {
    const payload = this.#payloads[place]
    const next = payload === undefined ? place : place + 1
    const link = `</queue?after=${next}>; rel="next"`
    answer.writeHead(payload === undefined ? 204 : 200, {
      link,
      'content-type': 'application/octet-stream',
    })
    answer.end(payload)
  }
}
