import { Duplex } from 'node:stream'
import type { RawData, WebSocket } from 'ws'
import type { ClientSocket } from './client-socket.ts'
import { ClosingError, violation } from './closing.ts'
import { controlPacketBytesMax } from './fixed-header.ts'

/** RFC 6455, section 7.4.1: this kind of data cannot be accepted. */
const unacceptableData = 1003

export interface MqttWebSocketNeeds {
  readonly webSocket: WebSocket
  readonly network: Duplex
  readonly remoteAddress: string
}

/**
 * The bytes of MQTT that come and go in the binary messages of a WebSocket, as if over TCP: where
 * a message begins and ends means nothing (MQTT 3.1.1, section 6).
 */
export class MqttWebSocket extends Duplex implements ClientSocket {
  readonly remoteAddress: string
  readonly #needs: MqttWebSocketNeeds
  /** Bytes of the message that is still arriving, about. */
  #unfinishedBytes = 0

  /** @param network what the WebSocket itself is carried by */
  constructor(needs: MqttWebSocketNeeds) {
    super({ allowHalfOpen: false })
    this.#needs = needs
    const { remoteAddress, network, webSocket } = needs
    this.remoteAddress = remoteAddress
    // Before the WebSocket counts the same bytes as a complete message.
    network.prependListener('data', this.#limitUnfinished)
    webSocket.on('message', (data, isBinary) => this.#receive(data, isBinary))
    // A frame that is against the protocol, or too large: the client was told why.
    webSocket.on('error', (error) => this.destroy(error))
    webSocket.on('close', () => this.push(null))
  }

  allowLargePackets(): void {
    this.#needs.network.removeListener('data', this.#limitUnfinished)
  }

  override _read(): void {
    this.#needs.webSocket.resume()
  }

  override _write(
    chunk: Buffer,
    _: BufferEncoding,
    callback: (error?: Error | null) => void,
  ): void {
    // Called back when the network has taken it: until then the next ones wait here.
    this.#needs.webSocket.send(chunk, { binary: true }, callback)
  }

  override _writev(
    chunks: { readonly chunk: Buffer }[],
    callback: (error?: Error | null) => void,
  ): void {
    const bytes = Buffer.concat(chunks.map(({ chunk }) => chunk))
    this.#needs.webSocket.send(bytes, { binary: true }, callback)
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#needs.webSocket.close()
    callback()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const { webSocket, network } = this.#needs
    network.removeListener('data', this.#limitUnfinished)
    webSocket.close()
    // What comes now is thrown away; without reading, the other side's farewell would not be seen.
    webSocket.resume()
    callback(error)
  }

  #receive(data: RawData, isBinary: boolean): void {
    const { webSocket } = this.#needs
    this.#unfinishedBytes = 0
    if (this.destroyed) return
    if (isBinary) {
      // A Buffer, because the WebSocket has the default `binaryType`.
      if (!this.push(data)) webSocket.pause()
      return
    }
    // [MQTT-6.0.0-1]
    webSocket.close(unacceptableData, 'MQTT comes in binary frames')
    this.destroy(violation('a text frame [MQTT-6.0.0-1]'))
  }

  /**
   * The WebSocket keeps a message until it is complete, and some may be large. Nobody unknown gets
   * us to keep that much.
   */
  readonly #limitUnfinished = (chunk: Buffer): void => {
    this.#unfinishedBytes += chunk.length
    // The chunk at hand is already in memory: it may end a message, and begin others.
    if (this.#unfinishedBytes - chunk.length <= controlPacketBytesMax) return
    this.#needs.webSocket.terminate()
    this.destroy(
      new ClosingError('too_large', 'a large message from a client that is not known yet'),
    )
  }
}
