import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import type { OPCUAClientOptions } from 'node-opcua-client'
import {
  type Acknowledged,
  ChunkCutter,
  FrameFault,
  hello,
  limits,
  messageTypeOf,
  readAcknowledge,
  readErrorMessage,
} from './frames.ts'

type TransportFactory = NonNullable<OPCUAClientOptions['transportFactory']>
export type Transport = ReturnType<TransportFactory['create']>

type Done = (error?: Error | null) => void

/** A server that says nothing for so long, to the first word of a connection, is none. */
const helloMs = 10_000

/** A server has ended the connection and said why. */
export class ServerError extends Error {
  override readonly name = 'ServerError'
  /** A status code of OPC UA. */
  readonly code: number

  constructor(code: number, reason: string) {
    super(reason)
    this.code = code
  }
}

export interface DialedTransportNeeds {
  readonly open: () => Promise<Socket>
  /** Gets to know why it has failed: the library would make another error of it. */
  readonly onFailure: (failure: Error) => void
}

/**
 * What the library speaks through, over a connection that the service has made. What the library throws over something
 * that a server sends ends the connection, and nothing else.
 */
export class DialedTransport extends EventEmitter implements Transport {
  readonly name = 'dialed'
  readonly #needs: DialedTransportNeeds
  readonly #cutter = new ChunkCutter()
  #socket: Socket | undefined
  #isClosed = false
  /** Bytes that no answer has come of. */
  #unheardBytes = 0
  #onHello: Done | undefined
  protocolVersion = 0
  timeout = helloMs
  numberOfRetry = 0
  endpointUrl = ''
  serverUri = ''
  parameters?: NonNullable<Transport['parameters']>
  readonly receiveBufferSize = limits.chunkBytesMax
  readonly sendBufferSize = limits.chunkBytesMax
  readonly maxChunkCount = limits.chunksMax
  readonly maxMessageSize = limits.messageBytesMax
  bytesRead = 0
  bytesWritten = 0
  chunkReadCount = 0
  chunkWrittenCount = 0

  constructor(needs: DialedTransportNeeds) {
    super()
    this.#needs = needs
  }

  connect(endpointUrl: string, callback: Done): void {
    this.endpointUrl = endpointUrl
    const patience = setTimeout(() => {
      this.#fail(new Error('the server has not answered the first message'))
    }, helloMs)
    this.#onHello = (error) => {
      clearTimeout(patience)
      this.#onHello = undefined
      callback(error)
    }
    this.#needs.open().then(
      (socket) => this.#begin(socket),
      (error: Error) => this.#fail(error),
    )
  }

  disconnect(callback: Done): void {
    this.#close()
    setImmediate(callback)
  }

  dispose(): void {
    this.#close()
  }

  write(chunk: Buffer, callback?: (error?: Error | null) => undefined): void {
    this.bytesWritten += chunk.length
    this.chunkWrittenCount++
    if (this.#socket === undefined || this.#isClosed) callback?.()
    else this.#socket.write(chunk, callback)
  }

  prematureTerminate(error: Error): void {
    this.#fail(error)
  }

  forceConnectionBreak(): void {
    this.#fail(new Error('the connection was given up'))
  }

  isValid(): boolean {
    return this.#socket !== undefined && !this.#isClosed
  }

  isDisconnecting(): boolean {
    return !this.isValid()
  }

  getTransportSettings() {
    const { maxChunkCount, maxMessageSize, receiveBufferSize, sendBufferSize } = this
    return { maxChunkCount, maxMessageSize, receiveBufferSize, sendBufferSize }
  }

  #begin(socket: Socket): void {
    if (this.#isClosed) {
      socket.destroy()
      return
    }
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (bytes: Buffer) => this.#hear(bytes))
    socket.on('error', (error) => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the server has closed the connection')))
    socket.write(hello(this.endpointUrl))
  }

  #hear(bytes: Buffer): void {
    this.bytesRead += bytes.length
    try {
      for (const chunk of this.#cutter.push(bytes)) {
        if (this.#isClosed) return
        this.#take(chunk)
      }
    } catch (error) {
      this.#fail(error as Error)
    }
  }

  /** The library has understood an answer. */
  heard(): void {
    this.#unheardBytes = 0
  }

  #take(chunk: Buffer): void {
    this.chunkReadCount++
    this.#unheardBytes += chunk.length
    // The library passes over what belongs to no request.
    if (this.#unheardBytes > 2 * limits.messageBytesMax) {
      throw new FrameFault('the server sends what was not requested')
    }
    if (messageTypeOf(chunk) === 'ERR') {
      const { code, reason } = readErrorMessage(chunk)
      throw new ServerError(code, reason)
    }
    if (this.#onHello === undefined) {
      this.emit('chunk', chunk)
      return
    }
    const acknowledged: Acknowledged = readAcknowledge(chunk)
    // The library reads its numbers, and nothing else of it.
    this.parameters = acknowledged as unknown as NonNullable<Transport['parameters']>
    this.#onHello()
  }

  #fail(error: Error): void {
    if (this.#isClosed) return
    this.#needs.onFailure(error)
    this.#close(error)
  }

  #close(error?: Error): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket?.destroy()
    const onHello = this.#onHello
    if (onHello) onHello(error ?? new Error('the connection was given up'))
    else this.emit('close', error ?? null)
  }
}
