import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type OutgoingMessage, type Server } from 'coap'
import { freePort } from '../../scripts/servers/free-port.ts'

type Answer = OutgoingMessage

interface Observer {
  readonly answer: Answer
  /** What it has not acknowledged. */
  isBusy: boolean
}

/** Bytes of a part of what does not fit into a datagram. */
const blockSize = 1_024

/** Time for an observer to hear that it is over. */
const farewellMs = 500

/**
 * A device with one resource, whose states are sent one after the other: the next one when the one before was
 * acknowledged (RFC 7641, section 4.5.2). What nobody has acknowledged is sent to the next observer.
 */
export class CoapDevice implements AsyncDisposable {
  readonly port: number
  readonly #states: Buffer[] = []
  #socket: Socket | undefined
  #server: Server | undefined
  #observer: Observer | undefined
  /** Requests of observers, by what they want: 0 to be told, 1 not any more. */
  readonly asked: number[] = []

  static async start(): Promise<CoapDevice> {
    const device = new CoapDevice(await freePort())
    await device.start()
    return device
  }

  private constructor(port: number) {
    this.port = port
  }

  get source() {
    return { protocol: 'coap', endpoint: `coap://127.0.0.1:${this.port}/plant/boiler?unit=C` }
  }

  async publish(states: readonly Uint8Array[]): Promise<void> {
    this.#states.push(...states.map((state) => Buffer.from(state)))
    this.#sendNext()
  }

  async start(): Promise<void> {
    const socket = createSocket('udp4')
    socket.bind(this.port, '127.0.0.1')
    await once(socket, 'listening')
    this.#socket = socket
    const server = createServer((request, answer) => this.#answer(request, answer))
    await new Promise<void>((resolve) => server.listen(socket, () => resolve()))
    this.#server = server
    socket.on('message', (datagram) => this.#hear(datagram))
  }

  /** Says so to who observes. */
  async stop(): Promise<void> {
    const socket = this.#socket
    this.#socket = undefined
    if (socket === undefined) return
    const signal = AbortSignal.timeout(farewellMs)
    const heard = async () => await once(socket, 'message', { signal }).catch(() => undefined)
    if (this.#observer?.isBusy === true) await heard()
    const observer = this.#observer
    this.#observer = undefined
    if (observer) {
      observer.answer.statusCode = '5.03'
      observer.answer.write(Buffer.alloc(0))
      await heard()
    }
    this.#server?.close()
    const closed = once(socket, 'close')
    socket.close()
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  #answer(request: IncomingMessage, answer: Answer): void {
    const observe = request.headers['Observe']
    if (typeof observe === 'number') this.asked.push(observe)
    if (observe === undefined) {
      answer.end(this.#states[0])
      return
    }
    if (observe === 1) {
      this.#observer = undefined
      answer.end()
      return
    }
    this.#observer = { answer, isBusy: false }
    // There is no state yet that would not be sent by itself.
    answer.write(Buffer.alloc(0))
    setImmediate(() => this.#sendNext())
  }

  #sendNext(): void {
    const observer = this.#observer
    const [state] = this.#states
    if (observer === undefined || observer.isBusy || state === undefined) return
    observer.isBusy = true
    const { answer } = observer
    if (state.length > blockSize) answer.setOption('Block2', Buffer.of(0x0e))
    answer.write(state.subarray(0, blockSize))
    if (state.length > blockSize) answer.setOption('Block2', Buffer.of(0x06))
  }

  /** An acknowledgement is a datagram of four bytes: RFC 7252, section 4.2. */
  #hear(datagram: Buffer): void {
    const isAcknowledgement = datagram.length === 4 && datagram.readUInt8(0) === 0x60
    if (!isAcknowledgement || this.#observer?.isBusy !== true) return
    this.#observer.isBusy = false
    this.#states.shift()
    this.#sendNext()
  }
}
