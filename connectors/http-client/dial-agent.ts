import { Agent, type ClientRequestArgs } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Dial, DialedTls } from '../../src/contracts/fetch-connector.ts'

/** Has connections opened by the dial, which alone knows where one may connect to. */
export class DialAgent extends Agent {
  readonly #dial: Dial
  readonly #tls: DialedTls | undefined
  /**
   * Signal of the request that is under way: there is one at a time, and agents are not told of it.
   */
  signal: AbortSignal | undefined
  #isClosed = false

  constructor(dial: Dial, tls: DialedTls | undefined) {
    super({ keepAlive: true, maxSockets: 1, maxFreeSockets: 1 })
    this.#dial = dial
    this.#tls = tls
  }

  override createConnection(
    options: ClientRequestArgs,
    callback: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    void this.#open(options, callback)
    return undefined
  }

  close(): void {
    this.#isClosed = true
    this.destroy()
  }

  async #open(
    options: ClientRequestArgs,
    callback: (error: Error | null, socket: Duplex) => void,
  ): Promise<void> {
    let socket: Duplex
    try {
      socket = await this.#connect(options)
    } catch (error) {
      callback(error as Error, undefined as never)
      return
    }
    callback(null, socket)
  }

  async #connect({ host, port }: ClientRequestArgs): Promise<Duplex> {
    const socket = await this.#dial({
      host: host ?? '',
      port: Number(port),
      tls: this.#tls,
      signal: this.signal ?? AbortSignal.abort(),
    })
    if (this.#isClosed) socket.destroy()
    return socket
  }
}
