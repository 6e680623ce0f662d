import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { ConnectionOptions, Server } from '@nats-io/transport-node'
import { FrameCheck, ServerFault } from './frames.ts'
import type { OpenedSocket } from './socket.ts'

/** Bytes that a server does not read: it is told little, and what it is told is short. */
const unsentBytesMax = 8 * 1024 * 1024

/** The connection goes to the transport through the options, which the library passes on as they are. */
export interface OpenedOptions extends ConnectionOptions {
  readonly opened: OpenedSocket
}

/** What the library speaks over: a connection that is there already. It opens none, neither now nor later. */
export class OpenedTransport {
  readonly lang = 'nats.js'
  readonly version = '3'
  readonly #closed = Promise.withResolvers<void | Error>()
  #socket: Socket | undefined
  #said: Buffer | undefined
  #isClosed = false
  closeError?: Error

  get isClosed(): boolean {
    return this.#isClosed
  }

  async connect(_: Server, options: ConnectionOptions): Promise<void> {
    const { socket, said } = (options as OpenedOptions).opened
    this.#socket = socket
    this.#said = said
    // Readers of the socket get the failure.
    socket.on('error', () => undefined)
    if (socket.destroyed) throw new Error('the server has closed the connection')
  }

  async *[Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array> {
    const frames = new FrameCheck()
    try {
      if (this.#said && this.#said.length > 0) {
        frames.check(this.#said)
        yield this.#said
      }
      for await (const chunk of this.#socket as AsyncIterable<Buffer>) {
        frames.check(chunk)
        yield chunk
      }
      this.#end(new Error('the server has closed the connection'))
    } catch (error) {
      this.#end(error as Error)
    } finally {
      this.#end(new ServerFault('the server has sent what the library cannot read'))
    }
  }

  isEncrypted(): boolean {
    return this.#socket instanceof TLSSocket
  }

  send(frame: Uint8Array): void {
    const socket = this.#socket
    if (this.#isClosed || socket === undefined || socket.destroyed) return
    socket.write(frame)
    if (socket.writableLength > unsentBytesMax) {
      this.#end(new ServerFault('the server does not read what it is sent'))
    }
  }

  async close(error?: Error): Promise<void> {
    this.#end(error)
  }

  disconnect(): void {
    this.#end(undefined)
  }

  async closed(): Promise<void | Error> {
    return await this.#closed.promise
  }

  discard(): void {
    this.#end(undefined)
  }

  #end(error: Error | undefined): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (error !== undefined) this.closeError = error
    this.#socket?.destroySoon()
    this.#closed.resolve(error)
  }
}
