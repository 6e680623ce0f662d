import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import { WebSocket, WebSocketServer } from 'ws'
import { freePort } from '../../scripts/servers/free-port.ts'

/**
 * A server of messages. With a memory it sends, to whoever says `{"after": n}`, all messages behind the one with this
 * number. Without one it keeps what it is given until somebody is there, and has sent it for the last time then.
 */
export class WebSocketPeer implements AsyncDisposable {
  readonly #port: number
  readonly #hasMemory: boolean
  #messages: Uint8Array[] = []
  readonly #listeners = new Set<WebSocket>()
  #server: WebSocketServer | undefined

  static async start({ hasMemory }: { readonly hasMemory: boolean }): Promise<WebSocketPeer> {
    const peer = new WebSocketPeer(await freePort(), hasMemory)
    await peer.start()
    return peer
  }

  private constructor(port: number, hasMemory: boolean) {
    this.#port = port
    this.#hasMemory = hasMemory
  }

  get ports(): readonly number[] {
    return [this.#port]
  }

  get source() {
    const endpoint = `ws://127.0.0.1:${this.#port}/feed`
    const source = { protocol: 'websocket', endpoint }
    if (!this.#hasMemory) return { ...source, subscribe: 'hello' }
    const subscribe = { after: '{cursor}' }
    return { ...source, subscribe, cursorField: 'number', cursorStart: -1 }
  }

  async publish(payloads: readonly Uint8Array[]): Promise<void> {
    this.#messages.push(...payloads)
    // One that has said good-bye hears nothing more.
    const listener = [...this.#listeners].find(({ readyState }) => readyState === WebSocket.OPEN)
    if (listener !== undefined) this.#send(listener, payloads)
  }

  async start(): Promise<void> {
    const server = new WebSocketServer({ port: this.#port, host: '127.0.0.1' })
    this.#server = server
    server.on('connection', (listener) => {
      listener.on('error', () => undefined)
      listener.on('close', () => this.#listeners.delete(listener))
      listener.once('message', (said: Buffer) => {
        this.#listeners.add(listener)
        this.#send(listener, this.#behind(said.toString()))
      })
    })
    await once(server, 'listening')
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    const closed = once(server, 'close')
    server.close()
    for (const listener of server.clients) listener.close(1001, 'for today')
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const listener of this.#server?.clients ?? []) listener.terminate()
    await this.stop()
  }

  #behind(said: string): readonly Uint8Array[] {
    if (!this.#hasMemory) return this.#messages
    const { after } = JSON.parse(said) as { after: number }
    const place = this.#messages.findIndex((message) => numberOf(message) === after)
    return this.#messages.slice(place + 1)
  }

  #send(listener: WebSocket, messages: readonly Uint8Array[]): void {
    for (const [index, message] of messages.entries()) {
      // Servers send texts in either kind of message (RFC 6455, section 5.6).
      const binary = index % 2 === 0 || !isUtf8(Buffer.from(message))
      listener.send(message, { binary })
    }
    if (!this.#hasMemory) this.#messages = []
  }
}

function numberOf(message: Uint8Array): number | undefined {
  try {
    return (JSON.parse(Buffer.from(message).toString()) as { number?: number }).number
  } catch {
    return undefined
  }
}
