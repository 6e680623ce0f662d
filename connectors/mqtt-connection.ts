import { Duplex } from 'node:stream'
import type { Settled } from '../src/pipeline/connector.ts'
import {
  type Packet,
  PacketFramer,
  ProtocolError,
  packetType,
  type ReadTopic,
  type TakenPublish,
  takeKeepAlive,
  takePublish,
} from './mqtt-framing.ts'
import { InFlight } from './mqtt-in-flight.ts'

/** After a failure that may pass, what failed is offered again this much later. */
const retryMs = 250

/** Hands a reading on; false when its topic is none for readings, so that the broker takes it. */
export type TakePublish = (publish: TakenPublish, settled: Settled) => boolean

/** What carries the bytes of a client: a TCP or TLS socket, or a WebSocket. */
export interface ClientSocket extends Duplex {
  readonly remoteAddress?: string | undefined
  /** Called once the client is known, where somebody else than we keeps what is incomplete. */
  allowLargePackets?(): void
}

/**
 * Stands between a client's socket and the broker, as a stream that the broker reads and writes.
 *
 * Readings with QoS 0 and 1, nearly all of what arrives, are taken out here and acknowledged here:
 * many acknowledgements become one write. Everything else, from CONNECT to QoS 2, goes on to the
 * broker. The keep-alive is watched here too, because the broker does not see the readings.
 */
export class MqttConnection extends Duplex {
  readonly #socket: ClientSocket
  readonly #framer = new PacketFramer()
  #take: TakePublish | undefined
  #isConnecting = false
  #isBrokerFull = false
  #isFlushing = false
  readonly #inFlight = new InFlight()
  #retry: NodeJS.Timeout | undefined
  #lastTopic = Buffer.alloc(0)
  #lastTopicText = ''
  #keepAlive: NodeJS.Timeout | undefined

  constructor(socket: ClientSocket) {
    super({ allowHalfOpen: false })
    this.#socket = socket
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('drain', () => this.#proceed())
    socket.on('end', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress
  }

  /** To be called once the client is connected: until then nothing behind CONNECT is looked at. */
  open(take: TakePublish): void {
    this.#take = take
    this.#isConnecting = false
    this.#framer.allowLargePackets()
    this.#socket.allowLargePackets?.()
    this.#proceed()
  }

  override _read(): void {
    this.#isBrokerFull = false
    // Not at once: the broker calls this while it is still handling the packet before.
    setImmediate(() => this.#proceed())
  }

  override _write(
    chunk: Buffer,
    _: BufferEncoding,
    callback: (error?: Error | null) => void,
  ): void {
    this.#socket.write(chunk, callback)
  }

  override _writev(
    chunks: { readonly chunk: Buffer }[],
    callback: (error?: Error | null) => void,
  ): void {
    this.#socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), callback)
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#socket.end(callback)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    clearTimeout(this.#keepAlive)
    clearTimeout(this.#retry)
    this.#socket.destroy()
    callback(error)
  }

  #receive(chunk: Buffer): void {
    this.#keepAlive?.refresh()
    this.#framer.push(chunk)
    this.#proceed()
  }

  /** Hands on all complete packets, as long as there is somebody to take them. */
  #proceed(): void {
    try {
      while (this.#mayProceed()) {
        const packet = this.#framer.next()
        if (packet === undefined) break
        this.#route(packet)
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.destroy(error)
      return
    }
    if (this.#mayProceed()) this.#socket.resume()
    else this.#socket.pause()
  }

  #mayProceed(): boolean {
    const isWaiting = this.#isConnecting || this.#isBrokerFull || this.#retry !== undefined
    // Who does not take our acknowledgements gets no more of them.
    if (this.#socket.writableNeedDrain) return false
    return !isWaiting && !this.#inFlight.isFull && !this.destroyed
  }

  #route(packet: Packet): void {
    const { bytes, start, end } = packet
    const type = (bytes[start] as number) >> 4
    if (type === packetType.publish && this.#take !== undefined) {
      const publish = takePublish(packet, this.#readTopic)
      if (publish !== undefined && this.#take(publish, this.#settle)) {
        this.#inFlight.add(packet, publish.packetId)
        return
      }
    }
    if (type === packetType.connect && !this.#take) {
      this.#isConnecting = true
      this.#watchKeepAlive(takeKeepAlive(packet))
    }
    this.#isBrokerFull = !this.push(bytes.subarray(start, end))
  }

  /** Clients mostly repeat themselves: a topic like the one before is not decoded again. */
  readonly #readTopic: ReadTopic = (bytes, start, end) => {
    if (this.#lastTopic.compare(bytes, start, end) !== 0) {
      this.#lastTopic = Buffer.from(bytes.subarray(start, end))
      this.#lastTopicText = this.#lastTopic.toString()
    }
    return this.#lastTopicText
  }

  /**
   * One function for all readings, because they settle in order. A failure that may pass holds up
   * the client: it is not read, so it sends no more. Any other closes the connection without
   * acknowledgement: the client then sends again.
   */
  readonly #settle: Settled = (error) => {
    if (this.destroyed) return
    if (error === undefined) {
      this.#inFlight.settle('durable')
      this.#scheduleFlush()
    } else if (error.retryable) {
      this.#inFlight.settle('failed')
      this.#retry ??= setTimeout(() => this.#offerAgain(), retryMs)
    } else this.destroy(error)
  }

  #offerAgain(): void {
    this.#retry = undefined
    for (const packet of this.#inFlight.takeFailed()) {
      const publish = takePublish(packet, this.#readTopic)
      if (publish !== undefined) this.#take?.(publish, this.#settle)
    }
    this.#proceed()
  }

  /** A commit settles many readings in one go: what it says to one client becomes one write. */
  #scheduleFlush(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    process.nextTick(() => {
      this.#isFlushing = false
      this.#acknowledge()
      this.#proceed()
    })
  }

  #acknowledge(): void {
    const acknowledgements = this.#inFlight.takeAcknowledgements()
    if (acknowledgements !== undefined && !this.destroyed) this.#socket.write(acknowledgements)
  }

  /** One and a half times the keep-alive without a byte ends the connection ([MQTT-3.1.2-24]). */
  #watchKeepAlive(seconds: number): void {
    if (seconds === 0) return
    this.#keepAlive = setTimeout(() => {
      // While we do not read we cannot know whether the client has spoken.
      if (this.#socket.isPaused()) this.#keepAlive?.refresh()
      else this.destroy(new ProtocolError('nothing arrived within the keep-alive'))
    }, seconds * 1_500)
  }
}
